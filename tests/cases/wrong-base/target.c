// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - functions that several updates change

#include <stdio.h>

#include "serve.h"

KEPT static int weigh(int n)
{
	return n * 2;
}

KEPT static int count(int n)
{
	return n + 3;
}

void answer(const char *request, char *reply, size_t size)
{
	int n = request[0] == 'x';
	int weight = weigh(n);

	snprintf(reply, size, "%d %d", weight, count(n));
}
