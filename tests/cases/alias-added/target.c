// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has functions

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

int plus(int n);
int more(int n);

__attribute__((noinline)) int plus(int n)
{
	return n + 1;
}

__attribute__((noinline)) int more(int n)
{
	return n + 3;
}

void answer(const char *request, char *reply, size_t size)
{
	int n = atoi(request);

	snprintf(reply, size, "%d %d", plus(n), more(n));
}
