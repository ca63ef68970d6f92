// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - greets

#include <stdio.h>
#include <string.h>

#include "serve.h"

void greet(char *reply, size_t size);

KEPT void greet(char *reply, size_t size)
{
	snprintf(reply, size, "hello, %s", "world");
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "hello"))
		greet(reply, size);
	else
		snprintf(reply, size, "?");
}
