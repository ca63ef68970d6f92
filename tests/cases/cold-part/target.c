// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has an unlikely path

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

__attribute__((cold, noinline)) void report(const char *what, int n, char *reply, size_t size);
KEPT void check(int n, char *reply, size_t size);

static int reports;

void report(const char *what, int n, char *reply, size_t size)
{
	snprintf(reply, size, "%s %d after %d", what, n, reports);
}

void check(int n, char *reply, size_t size)
{
	if (__builtin_expect(n < 0, 0)) {
		reports = 1;
		report("trouble", -n, reply, size);
		return;
	}
	snprintf(reply, size, "fine %d", n);
}

void answer(const char *request, char *reply, size_t size)
{
	check(atoi(request), reply, size);
}
