// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - counts the frames on its stack

#include <execinfo.h>
#include <stdio.h>

#include "serve.h"

KEPT int depth(void);
KEPT int look(void);

static int at_first;

int depth(void)
{
	void *frames[64];

	return backtrace(frames, 64);
}

int look(void)
{
	int found = depth();

	__asm__ volatile("" ::: "memory");
	return found;
}

void answer(const char *request, char *reply, size_t size)
{
	int n = look();

	(void)request;
	if (!at_first)
		at_first = n;
	snprintf(reply, size, "%d more, %s", n - at_first, n > 3 ? "to the beginning" : "lost");
}
