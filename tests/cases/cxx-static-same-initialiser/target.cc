// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - has a static variable that code initialises

#include <cstdio>
#include <cstdlib>

extern "C" {
#include "serve.h"
}

static volatile int factor = 10;

KEPT static int start(int n)
{
	return n * factor;
}

KEPT static int sum(int n)
{
	static int base = start(500);

	return base + n;
}

extern "C" void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "%d", sum(atoi(request)) + start(0));
}
