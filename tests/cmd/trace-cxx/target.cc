// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - exceptions that pass through functions

#include <cstdio>
#include <stdexcept>

extern "C" {
#include "serve.h"
}

namespace shop {

struct guard {
	static int alive;
	guard() { alive++; }
	~guard() { alive--; }
};
int guard::alive;

KEPT int thrower(int depth)
{
	guard held;

	if (!depth)
		throw std::runtime_error("sold out");
	return thrower(depth - 1) + 1;
}

KEPT int catcher(int depth)
{
	try {
		return thrower(depth);
	} catch (const std::runtime_error &) {
		return -1 - guard::alive;
	}
}

}

extern "C" void answer(const char *request, char *reply, size_t size)
{
	int sum = 0;

	(void)request;
	for (int i = 0; i < 10; i++)
		sum += shop::catcher(i);
	snprintf(reply, size, "%d", sum);
}
