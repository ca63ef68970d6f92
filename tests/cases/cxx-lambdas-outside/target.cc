// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - callbacks that are made outside functions

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

extern "C" {
#include "serve.h"
}

template <class F> KEPT int call(int x)
{
	return F{}(x) + 1000;
}

template <class F> KEPT int ask(int x)
{
	return F{}.value(x) + 2000;
}

static std::function<int(int)> table[] = {
	[](int x) { return x + 1; },
	[](int x) { return x + 2; },
};

using first = decltype([](int x) { return x + 3; });
using second = decltype([](int x) { return x + 4; });

static struct {
	int value(int x) { return x + 5; }
} five;

static struct {
	int value(int x) { return x + 6; }
} six;

static std::vector<int (*)(int)> held;

KEPT static void hold()
{
	held = { call<first>, call<second>, ask<decltype(five)>, ask<decltype(six)> };
}

extern "C" void answer(const char *request, char *reply, size_t size)
{
	std::string all;

	(void)request;
	if (held.empty())
		hold();
	for (auto &f : table)
		all += std::to_string(f(10)) + " ";
	for (auto f : held)
		all += std::to_string(f(10)) + " ";
	all.pop_back();
	snprintf(reply, size, "%s", all.c_str());
}
