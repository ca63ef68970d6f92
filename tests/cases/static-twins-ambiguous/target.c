// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - counts two kinds of requests in static variables of one name

#include <stdio.h>

#include "serve.h"

static KEPT int count(char kind)
{
	if (kind == 'a') {
		static int n;

		return n += 1;
	}
	if (kind == 'b') {
		static int n;

		return n += 10;
	}
	return 0;
}

void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "%d", count(*request));
}
