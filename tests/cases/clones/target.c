// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has functions that are called with constants

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

#define COPIED __attribute__((noinline))

struct pair {
	int a, b;
};

static int calls;

static COPIED int sum(const struct pair *pair, int factor)
{
	calls++;
	return pair->a * factor + pair->b;
}

static COPIED int scale(int n, int factor, int plus)
{
	calls++;
	for (int i = 0; i < plus; i++)
		n += calls ? 1 : 2;
	return n * factor + plus - (plus * factor);
}

static COPIED int shift(int n, int by)
{
	calls++;
	return n + by;
}

void answer(const char *request, char *reply, size_t size)
{
	struct pair pair = { atoi(request), 18 };
	int a = sum(&pair, 1), b = scale(pair.a, 1, 10), c = shift(pair.a, 300);

	snprintf(reply, size, "%d %d %d", a, b, c);
}
