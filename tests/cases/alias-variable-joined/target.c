// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - counts calls, in one of two variables

#include <stdio.h>

#include "serve.h"

int hits = 5;
int again = 5;

KEPT static int count(void)
{
	again++;
	return hits;
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%d", count());
}
