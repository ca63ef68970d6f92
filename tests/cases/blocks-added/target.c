// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - keeps one of two blocks (an extension of clang)

/* clang-format 14 knows no blocks */
/* clang-format off */
#include <stdio.h>

#include "serve.h"

/* What the blocks' runtime library defines. */
void *_NSConcreteGlobalBlock[32];
void *_NSConcreteStackBlock[32];

typedef int (^block)(int);

static block kept;

static __attribute__((noinline)) int use(block some)
{
	return some(7);
}

void answer(const char *request, char *reply, size_t size)
{
	int twice = use(^(int number) { return number * 2; });

	(void)request;
	if (!kept)
		kept = ^(int number) { return number + 1; };
	snprintf(reply, size, "%d %d", kept(5), twice);
}
