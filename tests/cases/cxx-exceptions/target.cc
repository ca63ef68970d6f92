// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - throws, unwinds and catches

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

extern "C" {
#include "serve.h"
}

static int left;

struct Guard {
	~Guard();
};

KEPT static void leave(int by)
{
	left += by;
}

Guard::~Guard()
{
	leave(1);
}

KEPT static void check(int n)
{
	if (n < 0)
		throw std::runtime_error("negative (" + std::to_string(-n) + ")");
	if (n > 100)
		throw 'b';
}

KEPT static void pass(int n)
{
	Guard guard;

	check(n);
}

KEPT static void take(int n, char *reply, size_t size)
{
	left = 0;
	try {
		pass(n);
		snprintf(reply, size, "fine %d, %d left", n, left);
	} catch (const std::exception &e) {
		snprintf(reply, size, "caught: %s, %d left", e.what(), left);
	} catch (char) {
		snprintf(reply, size, "caught: too big, %d left", left);
	}
}

extern "C" void answer(const char *request, char *reply, size_t size)
{
	take(atoi(request), reply, size);
}
