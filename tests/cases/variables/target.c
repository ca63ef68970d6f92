// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - counts in variables of every kind

#include <stdio.h>

#include "serve.h"

int global_count;
int limit = 7;
static int static_count = 10;

KEPT void bump(char *reply, size_t size);

void bump(char *reply, size_t size)
{
	static int local_count = 100;

	global_count++;
	static_count++;
	local_count++;
	snprintf(reply, size, "%d %d %d", global_count, static_count, local_count);
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	bump(reply, size);
}
