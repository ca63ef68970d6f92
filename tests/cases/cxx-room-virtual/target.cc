// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - a class with a virtual base

#include <cstdio>

extern "C" {
#include "serve.h"
}

struct base {
	int number = 7;
};

struct derived : virtual base {
	int count = 1;
	char own = 0;
};

static derived *object;

extern "C" void answer(const char *request, char *reply, size_t size)
{
	if (!object)
		object = new derived;
	object->own = request[0];
	snprintf(reply, size, "%d %d", object->own, object->number);
}
