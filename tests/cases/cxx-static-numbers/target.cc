// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - static variables with numbers in their names

#include <cstdio>
#include <cstdlib>

extern "C" {
#include "serve.h"
}

KEPT static int count(int x)
{
	static int sum_1, sum_2;

	sum_1 += x;
	sum_2 += 2 * x;
	return 100 * sum_1 + sum_2;
}

extern "C" void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "%d", count(atoi(request)));
}
