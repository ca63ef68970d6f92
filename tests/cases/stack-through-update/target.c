// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - sleeps with a number on its stack

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "serve.h"

KEPT const char *other(void);
KEPT void doze(char line[LINE_SIZE]);

const char *other(void)
{
	return "old";
}

void doze(char line[LINE_SIZE])
{
	volatile uintptr_t words[8] = { 0 };

	next_line(line);
	words[0] = 0;
}

void answer(const char *request, char *reply, size_t size)
{
	char line[LINE_SIZE] = "";

	if (!strcmp(request, "doze"))
		doze(line);
	snprintf(reply, size, "%s%s", line, other());
}
