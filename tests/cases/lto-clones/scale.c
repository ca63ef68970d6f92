// SPDX-License-Identifier: GPL-3.0-or-later
// scale.c - has a function that other sources call with constants

#include "scale.h"

static int calls;

__attribute__((noinline)) int scale(int n, int factor, int plus)
{
	calls++;
	for (int i = 0; i < plus; i++)
		n += calls ? 1 : 2;
	return n * factor + plus - (plus * factor);
}
