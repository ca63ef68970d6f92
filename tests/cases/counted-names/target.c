// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - counts with functions and variables whose names the preprocessor makes

#include <stdio.h>

#include "serve.h"

#define PASTE(a, b) a##b
#define NAME(a, n) PASTE(a, n)
#define COUNTER_AS(n, name, step)                                                                  \
	static int NAME(hits_, n);                                                                 \
	static KEPT int NAME(add_, n)(void)                                                        \
	{                                                                                          \
		return NAME(hits_, n) += (step);                                                   \
	}                                                                                          \
	static int (*const name)(void) = NAME(add_, n);
#define COUNTER(name, step) COUNTER_AS(__COUNTER__, name, step)

COUNTER(count_a, 1)
COUNTER(count_b, 10)

static KEPT int count(char kind, int *extra)
{
	*extra = 0;
	return kind == 'a' ? count_a() : count_b();
}

void answer(const char *request, char *reply, size_t size)
{
	int extra, n = count(*request, &extra);

	snprintf(reply, size, "%d %d", n, extra);
}
