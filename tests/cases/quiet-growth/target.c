// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has two functions

#include <stdio.h>

#include "serve.h"

KEPT int one(int value);
KEPT int two(int value);

int one(int value)
{
	return value * 3;
}

int two(int value)
{
	return one(value) - 1;
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%d %d", one(1), two(1));
}
