// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - lambdas and unnamed types that something holds

#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>

extern "C" {
#include "serve.h"
}

static std::mutex mutex;
static std::condition_variable changed;
static int asked, given, result;

struct any_task {
	virtual int run(int x) = 0;
	virtual ~any_task() {}
};

template <class F> struct task : any_task {
	F f;
	explicit task(F g) : f(g) {}
	int run(int x) override { return f(x); }
};

template <class F> KEPT static any_task *make_task(F f)
{
	return new task<F>(f);
}

static any_task *tasks[4];

static const struct {
	const char *name;
	int (*call)(int);
} table[] = {
	{ "one", [](int x) { return x + 1; } },
	{ "two", [](int x) { return x + 2; } },
};

KEPT static int count(int x)
{
	struct {
		int step;

		int next()
		{
			static int n;

			return n += step;
		}
	} counter = { x };

	return counter.next();
}

KEPT static void begin(int k)
{
	tasks[0] = make_task([k](int x) { return x * k; });
	tasks[1] = make_task([](int x) { return x * x; });
	std::thread([k] {
		std::unique_lock<std::mutex> lock(mutex);

		for (;;) {
			changed.wait(lock, [] { return asked != given; });
			result = table[0].call(asked) * 100 + k;
			given = asked;
			changed.notify_all();
		}
	}).detach();
}

KEPT static int ask_thread(int x)
{
	std::unique_lock<std::mutex> lock(mutex);

	asked = x;
	changed.notify_all();
	changed.wait(lock, [] { return asked == given; });
	return result;
}

extern "C" void answer(const char *request, char *reply, size_t size)
{
	int x = *request - '0';

	if (!tasks[0])
		begin(7);
	snprintf(reply, size, "%d %d %d %d %d", tasks[0]->run(x), tasks[1]->run(x), table[1].call(x),
		 count(x), ask_thread(x));
}
