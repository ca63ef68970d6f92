// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - relies on what a leaf leaves alone

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

KEPT void work(int a, int b, int d, int *ret);

static int calls;

static __attribute__((noinline)) int leaf(int n)
{
	calls++;
	return n * 10;
}

void work(int a, int b, int d, int *ret)
{
	int r = leaf(a);

	ret[0] = r;
	ret[1] = a;
	ret[2] = b;
	ret[3] = d;
}

void answer(const char *request, char *reply, size_t size)
{
	int n = atoi(request), ret[4];

	work(n, n + 2, n + 4, ret);
	snprintf(reply, size, "%d %d %d %d", ret[0], ret[1], ret[2], ret[3]);
}
