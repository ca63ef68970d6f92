// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a function with two names

#include <stdio.h>

#include "serve.h"

int first(int x);
int second(int x);

KEPT int first(int x)
{
	return x + 2;
}

int second(int x) __attribute__((alias("first")));

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%d %d", first(5), second(5));
}
