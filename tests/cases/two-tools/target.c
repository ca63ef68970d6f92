// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - waits inside the function

#include <stdio.h>
#include <string.h>

#include "serve.h"

KEPT void hold(char *reply, size_t size);
KEPT void wait_for_line(const char *say);

/* Tells that it waits, and waits for a line. */
void wait_for_line(const char *say)
{
	char line[LINE_SIZE];

	puts(say);
	fflush(stdout);
	next_line(line);
}

void hold(char *reply, size_t size)
{
	wait_for_line("holding old");
	snprintf(reply, size, "done old");
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "hold"))
		hold(reply, size);
	else
		snprintf(reply, size, "?");
}
