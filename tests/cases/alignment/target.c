// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - says where things lie

#include <stdint.h>
#include <stdio.h>

#include "serve.h"

KEPT void say(char *reply, size_t size)
{
	snprintf(reply, size, "old");
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	say(reply, size);
}
