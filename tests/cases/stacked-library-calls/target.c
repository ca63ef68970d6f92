// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - two functions that call one of the C library

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

int twice(const char *text);
int thrice(const char *text);

KEPT int twice(const char *text)
{
	return 2 * atoi(text);
}

KEPT int thrice(const char *text)
{
	return 3 * atoi(text);
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strncmp(request, "twice ", 6))
		snprintf(reply, size, "%d", twice(request + 6));
	else
		snprintf(reply, size, "%d", thrice(request + 7));
}
