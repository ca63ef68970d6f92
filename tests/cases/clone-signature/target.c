// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a function of which a copy with another signature is made

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

#define COPIED __attribute__((noinline))

struct triple {
	int a, b, c;
};

static volatile int calls;

static COPIED int sum(const struct triple *triple)
{
	calls++;
	return triple->a + triple->b;
}

KEPT int first(int n)
{
	struct triple triple = { n, 1, n };

	return sum(&triple);
}

KEPT int second(int n)
{
	struct triple triple = { n + 10, 1, n };

	return sum(&triple);
}

void answer(const char *request, char *reply, size_t size)
{
	int n = atoi(request);

	snprintf(reply, size, "%d %d", first(n), second(n));
}
