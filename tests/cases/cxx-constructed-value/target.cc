// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - a variable whose value is computed before main

#include <cstdio>
#include <cstdlib>

extern "C" {
#include "serve.h"
}

static int base()
{
	return getenv("no such variable") ? 0 : 5;
}

static int twice = base() * 2;

extern "C" void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%d", twice);
}
