// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has no unlikely path

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

__attribute__((cold, noinline)) void report(int n, char *reply, size_t size);
KEPT void check(int n, char *reply, size_t size);

void report(int n, char *reply, size_t size)
{
	snprintf(reply, size, "trouble %d", n);
}

void check(int n, char *reply, size_t size)
{
	snprintf(reply, size, "fine %d", n);
}

void answer(const char *request, char *reply, size_t size)
{
	int n = atoi(request);

	if (n > 1000)
		report(n, reply, size);
	else
		check(n, reply, size);
}
