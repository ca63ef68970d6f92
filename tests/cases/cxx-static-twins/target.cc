// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - counts in static variables of one name

#include <cstdio>

extern "C" {
#include "serve.h"
}

static KEPT int count(char kind)
{
	if (kind == 'a') {
		static int n;

		return n += 1;
	}
	static int n;

	return n += 10;
}

extern "C" void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "%d", count(*request));
}
