// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - keeps a pointer to a member

#include <cstdio>

extern "C" {
#include "serve.h"
}

struct pair {
	int a, b;
};

static int pair::*chosen;

KEPT static int get()
{
	pair pair{};

	pair.a = 1;
	pair.b = 2;
	return pair.*chosen;
}

extern "C" void answer(const char *request, char *reply, size_t size)
{
	chosen = *request == 'a' ? &pair::a : &pair::b;
	snprintf(reply, size, "%d", get());
}
