// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - callbacks whose type is forgotten

#include <cstdio>

extern "C" {
#include "serve.h"
}

static struct {
	void *object;
	int (*call)(void *object, int x);
} held;

template <class F> KEPT static void hold(F f)
{
	held.object = new F(f);
	held.call = [](void *object, int x) { return (*static_cast<F *>(object))(x); };
}

KEPT static void begin(int a, int b)
{
	(void)b;
	hold([a](int x) { return x + a; });
}

extern "C" void answer(const char *request, char *reply, size_t size)
{
	if (!held.object)
		begin(1, 2);
	snprintf(reply, size, "%d", held.call(held.object, *request));
}
