// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - three functions

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

static int calls;

static KEPT const char *one(void)
{
	calls = 1;
	return "one";
}

static KEPT const char *two(void)
{
	calls = 2;
	return "two";
}

static KEPT const char *three(void)
{
	calls = 3;
	return "three";
}

void answer(const char *request, char *reply, size_t size)
{
	int n = atoi(request);
	const char *name = n == 1 ? one() : n == 2 ? two() : three();

	snprintf(reply, size, "%s %d", name, calls);
}
