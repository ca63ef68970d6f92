// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has a function of few bytes, and one right behind it

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

KEPT int nothing(void);
KEPT int longer(int n);

int nothing(void)
{
	return 0;
}

int longer(int n)
{
	return n * 1000 + 17;
}

void answer(const char *request, char *reply, size_t size)
{
	int n = atoi(request);

	snprintf(reply, size, "%d %d", nothing(), longer(n));
}
