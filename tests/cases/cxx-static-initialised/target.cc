// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - counts in a static variable of a function

#include <cstdio>

extern "C" {
#include "serve.h"
}

KEPT static int first()
{
	static int value = std::snprintf(nullptr, 0, "%s", "four");

	return value;
}

KEPT static int next()
{
	static int count;

	return ++count;
}

extern "C" void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%d", next() + (first() == 4));
}
