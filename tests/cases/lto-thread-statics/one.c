// SPDX-License-Identifier: GPL-3.0-or-later
// one.c - counts for each thread

#include "steps.h"

static __thread int calls;

int one(int by)
{
	calls += 1;
	return calls + by;
}
