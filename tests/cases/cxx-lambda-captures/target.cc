// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - a callback that has captured something

#include <cstdio>
#include <functional>
#include <vector>

extern "C" {
#include "serve.h"
}

static std::vector<std::function<int(int)>> held;

KEPT static void hold(int a, int b)
{
	held.push_back([a](int x) { return x + a; });
	if (b > 5)
		held.push_back([](int x) { return x; });
}

extern "C" void answer(const char *request, char *reply, size_t size)
{
	if (held.empty())
		hold(1, 2);
	snprintf(reply, size, "%d", held[0](*request));
}
