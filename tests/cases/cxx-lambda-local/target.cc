// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - gives lambdas to a template of its own

#include <cstdio>

extern "C" {
#include "serve.h"
}

template <class F> KEPT static void each(char *text, F f)
{
	for (; *text; text++)
		*text = f(*text);
}

KEPT static void change(char *text, int by, int mask)
{
	(void)mask;
	each(text, [by](char c) {
		return (char)(c + by);
	});
}

extern "C" void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "%s", request);
	change(reply, 1, 3);
}
