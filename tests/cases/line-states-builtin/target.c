// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a coroutine that is a macro's argument

#include <stdio.h>

#include "serve.h"

/* clang-format off */
#define WAIT(state) do { state = __builtin_LINE(); return 1; case __builtin_LINE():; } while (0)
#define BODY(...) __VA_ARGS__

static int state, steps;

KEPT static int talk(void)
{
	switch (state) {
	case 0:
BODY(
	steps += 1;
) BODY( WAIT(state); ) BODY(
	steps += 10;
)
	}
	state = 0;
	return 2;
}

/* clang-format on */

void answer(const char *request, char *reply, size_t size)
{
	int result = talk();

	(void)request;
	snprintf(reply, size, "%d %d", result, steps);
}
