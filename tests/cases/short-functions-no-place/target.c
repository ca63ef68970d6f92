// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has a function of one byte, and behind it code that no jump to an address can end with

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

static int touched;

KEPT void touch(void);
KEPT int nothing(void);
KEPT int same(int n);

void touch(void)
{
}

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

	touch();
	snprintf(reply, size, "%d %d", nothing(), same(n) + touched);
}
