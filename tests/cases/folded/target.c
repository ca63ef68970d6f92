// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - two functions that are one after linking

#include <stdio.h>
#include <stdlib.h>
#include "serve.h"

KEPT int up(int n)
{
	return n * 3 + 1;
}

KEPT int down(int n)
{
	return n * 3 + 1;
}

void answer(const char *request, char *reply, size_t size)
{
	int n = atoi(request);

	snprintf(reply, size, "%d", n & 1 ? down(n) : up(n));
}
