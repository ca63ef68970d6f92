// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - a length in one of two measures

#include <cstdio>

extern "C" {
#include "serve.h"
}

struct metres {
	int n;
};

struct feet {
	int n;
};

template <typename First, typename Second> struct either {
	int which, n;

	explicit either(First value) : which(1), n(value.n) {}
	explicit either(Second value) : which(2), n(value.n) {}
	bool holds(First) const { return which == 1; }
	bool holds(Second) const { return which == 2; }
};

using length = either<metres, feet>;

static length *kept;

extern "C" void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	if (!kept)
		kept = new length(metres{ 3 });
	snprintf(reply, size, "%d %s", kept->n, kept->holds(metres()) ? "metres" : "feet");
}
