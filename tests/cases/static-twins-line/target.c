// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a macro with a static variable

#include <stdio.h>

#include "serve.h"

#define COUNT(x)                                                                                   \
	({                                                                                         \
		static int n;                                                                      \
		n += (x);                                                                          \
		n;                                                                                 \
	})

KEPT static int count(int x, int y)
{
	return COUNT(x) + 100 * COUNT(y);
}

void answer(const char *request, char *reply, size_t size)
{
	int x, y;

	if (sscanf(request, "%d %d", &x, &y) == 2)
		snprintf(reply, size, "%d", count(x, y));
}
