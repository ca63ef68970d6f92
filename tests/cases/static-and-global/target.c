// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - functions and a variable that change their visibility

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

KEPT int third(int n);
KEPT int fourth(int n);

static int state;

static KEPT int first(int n)
{
	state += n;
	return state;
}

static KEPT int second(int n)
{
	return 3 * n + 1;
}

KEPT int third(int n)
{
	return 3 * n + 2;
}

KEPT int fourth(int n)
{
	return 3 * n + 3;
}

void answer(const char *request, char *reply, size_t size)
{
	int n = atoi(request);

	snprintf(reply, size, "%d %d %d %d", first(n), second(n), third(n), fourth(n));
}
