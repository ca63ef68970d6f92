// SPDX-License-Identifier: GPL-3.0-or-later
// two.c - has static functions and variables of the same names as one.c

#include "steps.h"

static int calls;

static __attribute__((noinline)) int step(int by)
{
	static int total;

	calls += 10;
	total += by;
	return total + calls;
}

int two(int by)
{
	return step(by);
}
