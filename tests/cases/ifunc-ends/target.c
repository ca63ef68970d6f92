// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has a function that is chosen at the start

#include <stdio.h>

#include "serve.h"

static int one(void)
{
	return 1;
}

static int two(void)
{
	return 2;
}

static int (*choose(void))(void)
{
	return sizeof(long) == 8 ? one : two;
}

int value(void) __attribute__((ifunc("choose")));

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%d", value());
}
