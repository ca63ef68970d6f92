// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has a function whose two ways are told apart by a profile

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

KEPT int often(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i % 7 == 3 ? i * 3 : i;
	return sum;
}

KEPT int other(int n)
{
	return n % 2 ? n * 3 : n / 2;
}

KEPT void answer(const char *request, char *reply, size_t size)
{
	int n = atoi(request);

	snprintf(reply, size, "%d %d", often(n), other(n));
}
