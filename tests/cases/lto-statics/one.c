// SPDX-License-Identifier: GPL-3.0-or-later
// one.c - has static functions and variables of the same names as two.c

#include "steps.h"

static int calls;

static __attribute__((noinline)) int step(int by)
{
	static int total;

	calls++;
	total += by;
	return total + calls;
}

int one(int by)
{
	return step(by);
}
