// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - objects of classes of a function

#include <cstdio>

extern "C" {
#include "serve.h"
}

struct job {
	virtual int run(int x) = 0;
};

static job *held[8];
static int n_held;

KEPT static void hold()
{
	{
		struct own : job {
			int run(int x) override { return x + 1; }
		};
		held[n_held++] = new own;
	}
	{
		struct own : job {
			int run(int x) override { return x + 2; }
		};
		held[n_held++] = new own;
	}
}

extern "C" void answer(const char *request, char *reply, size_t size)
{
	if (!n_held)
		hold();
	snprintf(reply, size, "%d %d", held[0]->run(*request), held[1]->run(*request));
}
