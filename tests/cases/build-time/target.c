// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a program that says when it was built

#include <stdio.h>
#include <string.h>

#include "serve.h"

static KEPT const char *built(void)
{
	return __DATE__ " " __TIME__;
}

static KEPT int number(const char *request)
{
	return (int)strlen(request);
}

void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "%d %s", number(request), built()[0] ? "built" : "never built");
}
