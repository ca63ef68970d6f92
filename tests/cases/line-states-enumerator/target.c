// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - states that are numbered by their lines

#include <stdio.h>

#include "serve.h"

/* clang-format off */
static int state, steps;

#define BODY(...) __VA_ARGS__

BODY(
static int first_steps(void)
{
	return 1;
}

enum {
	FIRST = __LINE__
	,
	SECOND = __LINE__ + 1
};
)

KEPT static int talk(void)
{
	switch (state) {
	case 0:
	case FIRST:
		steps += first_steps();
		state = SECOND;
		return 1;
	case SECOND:
		steps += 10;
		state = FIRST;
		return 2;
	}
	return 3;
}

/* clang-format on */

void answer(const char *request, char *reply, size_t size)
{
	int result = talk();

	(void)request;
	snprintf(reply, size, "%d %d", result, steps);
}
