// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - a coroutine with the name of a C function, which waits between two questions

#include <coroutine>
#include <cstdio>
#include <exception>

extern "C" {
#include "serve.h"
}

struct series {
	struct promise_type {
		int value = 0;

		series get_return_object()
		{
			return { std::coroutine_handle<promise_type>::from_promise(*this) };
		}
		std::suspend_always initial_suspend() noexcept { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(int v) noexcept
		{
			value = v;
			return {};
		}
		void return_void() {}
		void unhandled_exception() { std::terminate(); }
	};

	std::coroutine_handle<promise_type> handle;
};

KEPT static int step(int n)
{
	return n + 1;
}

extern "C" series count(int from);

extern "C" series count(int from)
{
	for (int n = from;; n = step(n)) {
		co_yield n * 10;
		co_yield (n * 10) ^ 6;
	}
}

extern "C" void answer(const char *request, char *reply, size_t size)
{
	static series numbers = count(1);

	(void)request;
	numbers.handle.resume();
	snprintf(reply, size, "%d", numbers.handle.promise().value);
}
