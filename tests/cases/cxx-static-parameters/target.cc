// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - static variables in functions of C++

#include <cstdio>
#include <cstdlib>
#include <string>

extern "C" {
#include "serve.h"
}

static int total;

KEPT static int add(int x)
{
	static int n;

	n += x;
	return n;
}

struct log {
	int level = 1;

	KEPT const std::string &note(const char *text)
	{
		static std::string all("<");

		all += text;
		return all;
	}
};

template <class T> KEPT long sum(T x)
{
	static long n;

	n += x;
	return n;
}

KEPT static void count()
{
	total++;
}

extern "C" void answer(const char *request, char *reply, size_t size)
{
	static log log;
	int x = atoi(request);

	count();
	snprintf(reply, size, "%d %s %ld %ld %d", add(x), log.note(request).c_str(), sum(x),
		 sum((long)x), total);
}
