// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - twins that only a table knows, changed one after the other

#include <stdio.h>
#include <stdlib.h>
#include "serve.h"

typedef int (*step_fn)(int);

static int up(int n)
{
	return n * 3 + 1;
}

static int down(int n)
{
	return n * 3 + 1;
}

step_fn steps[] = { up, down };

void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "%d", steps[atoi(request) & 1](5));
}
