// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - an object that was made at the first request, and one made at each

#include <cstdio>
#include <cstring>
#include <new>

extern "C" {
#include "serve.h"
}

struct limits {
	long most = 100;
	int least = 1;
};

/* The room has been zeroed, the padding too. */
KEPT static limits *make()
{
	static char rooms[64][sizeof(limits)];
	static int used;

	return new (rooms[used++ % 64]) limits;
}

KEPT static int check(const limits *limits, int n)
{
	return n >= limits->least && n <= limits->most;
}

static limits *old;

extern "C" void answer(const char *request, char *reply, size_t size)
{
	int n = 0;

	sscanf(request, "%d", &n);
	if (!old)
		old = make();
	snprintf(reply, size, "%d %d", check(old, n), check(make(), n));
}
