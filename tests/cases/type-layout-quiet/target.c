// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - adds up a pair on its stack
#include <stdio.h>

#include "pair.h"
#include "serve.h"

__attribute__((noinline)) static long sum(long length)
{
	volatile struct pair pair = { length, 3 };

	return pair.one + pair.other;
}

void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "%ld", pair_is_kept() ? 0 : sum(request[0] != 0));
}
