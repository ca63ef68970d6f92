// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - has a thread_local variable with a constructor

#include <cstdio>

extern "C" {
#include "serve.h"
}

struct Thing {
	int number;
	Thing();
};

KEPT static int seven()
{
	return 7;
}

Thing::Thing() : number(seven())
{
}

static thread_local Thing first;

extern "C" void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "%s %d", request, first.number);
}
