// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - counts

#include <stdio.h>
#include <string.h>

#include "serve.h"

int count(int step);

static int total;

KEPT int count(int step)
{
	total += step;
	return total;
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "tally"))
		snprintf(reply, size, "%d", count(1));
	else
		snprintf(reply, size, "?");
}
