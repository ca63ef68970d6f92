// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - walks a table that the linker makes

#include <stdio.h>

#include "serve.h"

typedef int (*step_fn)(void);

extern const step_fn __start_steps[], __stop_steps[];

static int first(void)
{
	return 1;
}

static int second(void)
{
	return 10;
}

static const __attribute__((section("steps"), used)) step_fn first_step = first;
static const __attribute__((section("steps"), used)) step_fn second_step = second;

void answer(const char *request, char *reply, size_t size)
{
	int sum = 0;

	(void)request;
	for (const step_fn *step = __start_steps; step < __stop_steps; step++)
		sum += (*step)();
	snprintf(reply, size, "%d", sum);
}
