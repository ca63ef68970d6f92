// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a coroutine that is a macro's argument

#include <stdio.h>

#include "serve.h"

/* clang-format off */
#define WAIT(state) WAIT_AT(state, __LINE__)
#define WAIT_AT(state, n) WAIT_LABEL(state, n)
#define WAIT_LABEL(state, n) do { state = n; return n > 0; case n:; } while (0)
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
