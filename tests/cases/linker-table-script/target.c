// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - walks a table that the linker makes

#include <stdio.h>

#include "serve.h"

typedef int (*step_fn)(void);

extern const step_fn first_of_steps[], end_of_steps[];

static int first(void)
{
	return 1;
}

static const __attribute__((section(".steps.1"), used)) step_fn first_step = first;

void answer(const char *request, char *reply, size_t size)
{
	int sum = 0;

	(void)request;
	for (const step_fn *step = first_of_steps; step < end_of_steps; step++)
		sum += (*step)();
	snprintf(reply, size, "%d", sum);
}
