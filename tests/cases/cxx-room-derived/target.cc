// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - a class whose padding another one uses

#include <cstdio>

extern "C" {
#include "serve.h"
}

struct base {
	virtual ~base() = default;
	int number = 1;
	char mark = 2;
};

struct derived : base {
	char own = 0;
};

static derived *object;

extern "C" void answer(const char *request, char *reply, size_t size)
{
	if (!object)
		object = new derived;
	object->own = request[0];
	snprintf(reply, size, "%d %d", object->number, object->own);
}
