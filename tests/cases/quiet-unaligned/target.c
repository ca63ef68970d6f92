// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has functions of odd lengths, one after the other

#include <stdio.h>

#include "serve.h"

static volatile int value = 10;

KEPT int one(void);
KEPT int two(void);
KEPT int three(int factor);
KEPT int four(int factor);

int one(void)
{
	return value;
}

int two(void)
{
	return value * 2;
}

int three(int factor)
{
	return value * factor;
}

int four(int factor)
{
	return value * factor + value;
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%d %d %d %d", one(), two(), three(3), four(3));
}
