// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a dialogue whose states __COUNTER__ numbers

#include <stdio.h>

#include "serve.h"

static int state;

/* clang-format off */
static const char *step(void)
{
	switch (state++) {
	case __COUNTER__: return "one";
	case __COUNTER__: return "two";
	case __COUNTER__: return "three";
	default: return "end";
	}
}
/* clang-format on */

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%s", step());
}
