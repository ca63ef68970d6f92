// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - waits in a function

#include <stdio.h>

#include "serve.h"

KEPT void wait_here(char line[LINE_SIZE]);

void wait_here(char line[LINE_SIZE])
{
	next_line(line);
	__asm__ volatile("" ::: "memory");
}

void answer(const char *request, char *reply, size_t size)
{
	char line[LINE_SIZE] = "";

	if (request[0] == 'w')
		wait_here(line);
	snprintf(reply, size, "done %s", line);
}
