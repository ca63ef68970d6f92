// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - counts calls of each thread

#include <stdio.h>

#include "serve.h"

static __thread int hits = 5;

KEPT static int count(void)
{
	return ++hits;
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%d", count());
}
