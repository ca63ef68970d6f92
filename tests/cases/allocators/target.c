// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a text that grows in memory of whatever allocator there is

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

static char *text;

KEPT void keep(const char *request, char *reply, size_t size)
{
	size_t len = text ? strlen(text) : 0;

	text = realloc(text, len + strlen(request) + 1);
	strcpy(text + len, request);
	snprintf(reply, size, "%s", text);
}

void answer(const char *request, char *reply, size_t size)
{
	keep(request, reply, size);
}
