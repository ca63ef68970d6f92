// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - inlines

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

KEPT int outer_a(int n);
KEPT int outer_b(int n);

static inline __attribute__((always_inline)) int inner(int n)
{
	return n + 10;
}

static inline __attribute__((always_inline)) int twice(int n)
{
	return 2 * inner(n);
}

int outer_a(int n)
{
	return inner(n);
}

int outer_b(int n)
{
	return twice(n);
}

void answer(const char *request, char *reply, size_t size)
{
	int n = atoi(request + 2);

	snprintf(reply, size, "%d", request[0] == 'a' ? outer_a(n) : outer_b(n));
}
