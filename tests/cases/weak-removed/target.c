// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - answers with the help of user.c

#include <stdio.h>

#include "serve.h"
#include "user.h"

int hook(void)
{
	return 5;
}

KEPT static int value(void)
{
	return 1;
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%d %d", value(), call_hook());
}
