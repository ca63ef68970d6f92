// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - counts in a static variable of a method

#include <cstdio>

extern "C" {
#include "serve.h"
}

class Counter
{
      public:
	KEPT int next(int by);
};

int Counter::next(int by)
{
	static int n;

	n += by;
	return n;
}

extern "C" void answer(const char *, char *reply, size_t size)
{
	snprintf(reply, size, "%d", Counter().next(1));
}
