// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - one of two users of shapes.h

#include <cstdio>
#include <cstdlib>

#include "shapes.h"

extern "C" {
#include "serve.h"
}

extern "C" void answer(const char *request, char *reply, size_t size)
{
	int n = atoi(request), a = more(n), b = times<int, 3>(n), c = Counter::next();
	int d = other_more(n), e = other_times(n), f = other_next();

	snprintf(reply, size, "%d %d %d | %d %d %d", a, b, c, d, e, f);
}
