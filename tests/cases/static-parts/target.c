// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a static structure whose members are used by themselves

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

static struct {
	int calls, errors, sum;
} stats;

KEPT static void note(int x)
{
	stats.calls++;
	stats.sum += x;
}

KEPT static int mean(void)
{
	return stats.sum / stats.calls;
}

void answer(const char *request, char *reply, size_t size)
{
	note(atoi(request));
	snprintf(reply, size, "%d", mean());
}
