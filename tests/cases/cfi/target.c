// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - keeps a pointer to a function

#include <stdio.h>

#include "serve.h"

typedef int (*step_fn)(int n);

__attribute__((noinline)) static int first(int n)
{
	return n + 1;
}

__attribute__((noinline)) static int second(int n)
{
	return n + 200;
}

static volatile step_fn step;

KEPT static int take(void)
{
	return step(1);
}

void answer(const char *request, char *reply, size_t size)
{
	if (*request == 'f')
		step = first;
	if (*request == 's')
		step = second;
	snprintf(reply, size, "%d", take());
}
