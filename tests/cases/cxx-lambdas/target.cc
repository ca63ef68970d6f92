// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - callbacks that are lambdas

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

extern "C" {
#include "serve.h"
}

static std::vector<std::function<int(int)>> held;
static int (*plain[8])(int);
static int n_plain;

template <class T> KEPT static void hold(T factor)
{
	held.push_back([factor](int x) { return x * (int)factor; });
}

KEPT static void hold_all(int k, const std::string &text)
{
	held.push_back([k](int x) { return x + k; });
	held.push_back([k, text](int x) {
		static int calls;

		return x * k + (int)text.size() + 100 * ++calls;
	});
	held.push_back([k](int x) {
		auto square = [](int y) { return y * y; };

		return square(x) + k;
	});
	plain[n_plain++] = [](int x) { return x - 1; };
	plain[n_plain++] = [](int x) { return x - 2; };
}

static auto at_start = [](auto x) { return (int)x + 1000; };

extern "C" void answer(const char *request, char *reply, size_t size)
{
	std::string all;

	if (held.empty() || *request == '+') {
		hold_all(3, "four");
		hold(5);
		hold(6.0);
	}
	for (auto &f : held)
		all += std::to_string(f(10)) + " ";
	for (int i = 0; i < n_plain; i++)
		all += std::to_string(plain[i](10)) + " ";
	all += std::to_string(at_start(1.5));
	snprintf(reply, size, "%s", all.c_str());
}
