// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - tells odd from even

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

static const char *kind(int n)
{
	if (n % 2)
		return "odd";
	return "even";
}

static void describe(int n, char *reply, size_t size)
{
	snprintf(reply, size, "%d is %s", n, kind(n));
}

void answer(const char *request, char *reply, size_t size)
{
	describe(atoi(request), reply, size);
}
