// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has a function with a short start and a long rest

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

static KEPT int half(int n)
{
	return n / 2;
}

static int work(int n)
{
	int sum = 0;

	if (n < 10)
		return n;
	for (int i = 0; i < 4; i++)
		sum += half(n) - half(sum) + half(sum);
	for (int i = 0; i < 4; i++)
		sum -= half(n) - half(sum) + half(sum);
	return sum + half(n) + half(n * 2) + half(n + 4) + half(3 * n) - 2 * n + 2;
}

KEPT int first(int n)
{
	return work(n);
}

KEPT int second(int n)
{
	return work(n + 1);
}

void answer(const char *request, char *reply, size_t size)
{
	int n = atoi(request);

	snprintf(reply, size, "%d %d", first(n), second(n));
}
