// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - counts calls, in a variable of its own

#include <stdio.h>

#include "serve.h"

static int hits = 5;

int other(void);

KEPT static int count(void)
{
	return ++hits;
}

void answer(const char *request, char *reply, size_t size)
{
	int n = count();

	(void)request;
	snprintf(reply, size, "%d of %d", n, other());
}
