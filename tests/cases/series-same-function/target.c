// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - counts, and weighs what it counts

#include <stdio.h>
#include <string.h>

#include "serve.h"

int weigh(int n);
int count(int step);

static int total;

KEPT int weigh(int n)
{
	return n;
}

KEPT int count(int step)
{
	total += weigh(step);
	return total;
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "tally"))
		snprintf(reply, size, "%d", count(1));
	else
		snprintf(reply, size, "?");
}
