// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a caller of a function without calls

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

static int calls;

static __attribute__((noinline, noclone)) int leaf(int n)
{
	calls++;
	return n + 1;
}

__attribute__((noinline, noclone)) int middle(int n);

int middle(int n)
{
	return leaf(n) + (calls < 0);
}

/* Would crash on a stack that isn't aligned. */
KEPT int aligned(int n);

int aligned(int n)
{
	volatile __attribute__((aligned(16))) char place[16] = { 0 };

	__asm__ volatile("movaps %%xmm0, %0" : "=m"(place) : : "memory");
	return n + 101;
}

void answer(const char *request, char *reply, size_t size)
{
	int n = atoi(request);

	snprintf(reply, size, "%d", n > 1000 ? aligned(n) : middle(n));
}
