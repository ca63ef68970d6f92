// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has a function

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

int value(void);

int value(void)
{
	return two() + one();
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%d", value());
}
