// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has functions of few bytes, one behind the other

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

KEPT int nothing(void);
KEPT int same(int n);

int nothing(void)
{
	return 0;
}

int same(int n)
{
	return n;
}

void answer(const char *request, char *reply, size_t size)
{
	int n = atoi(request);

	snprintf(reply, size, "%d %d", nothing(), same(n));
}
