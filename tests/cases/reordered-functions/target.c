// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - functions in an order

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

static KEPT int next(int n)
{
	return n + 1;
}

static KEPT int twice(int n)
{
	return 2 * n;
}

static KEPT int power(int n)
{
	return n * n;
}

void answer(const char *request, char *reply, size_t size)
{
	int n = atoi(request);

	snprintf(reply, size, "%d %d %d", next(n), twice(n), power(n));
}
