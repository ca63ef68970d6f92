// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - a class with one virtual function

#include <cstdio>
#include <cstdlib>

extern "C" {
#include "serve.h"
}

class Shape {
public:
	virtual int area(int n);
};

int Shape::area(int n)
{
	return n;
}

static Shape *shape = new Shape;

extern "C" void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "%d", shape->area(atoi(request)));
}
