// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - functions in one section that call one another

#include <stdio.h>

#include "serve.h"

#define OWN __attribute__((section(".text.own"), noinline, noclone, used))

static OWN int last(int x);

static OWN int first(int x)
{
	return last(x + 1) + 1;
}

static OWN int second(int x)
{
	return x * 2;
}

static OWN int third(int x)
{
	return x * 3;
}

static OWN int last(int x)
{
	return x + 4;
}

void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "%d %d %d", first(request[0]), second(request[0]), third(request[0]));
}
