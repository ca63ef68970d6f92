// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - greets; is busy in the greeting until another line comes, if it is told "hold"

#include <stdio.h>
#include <string.h>

#include "serve.h"

void greet(const char *request, char *reply, size_t size);

KEPT void greet(const char *request, char *reply, size_t size)
{
	char line[LINE_SIZE];

	if (!strcmp(request, "hold"))
		next_line(line);
	snprintf(reply, size, "hello, %s", "world");
}

void answer(const char *request, char *reply, size_t size)
{
	greet(request, reply, size);
}
