// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a counter

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

static int hits;

KEPT static void hits_add(int x)
{
	hits += x;
}

KEPT static int hits_get(void)
{
	return hits;
}

void answer(const char *request, char *reply, size_t size)
{
	hits_add(atoi(request));
	snprintf(reply, size, "%d", hits_get());
}
