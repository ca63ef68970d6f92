// SPDX-License-Identifier: GPL-3.0-or-later
// two.c - counts for each thread

#include "steps.h"

static __thread int calls;

int two(int by)
{
	calls += 10;
	return calls + by;
}
