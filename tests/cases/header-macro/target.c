// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - uses a macro in one of two functions

#include <stdio.h>
#include <stdlib.h>

#include "scale.h"
#include "serve.h"

KEPT int first(int n)
{
	return SCALE(n);
}

KEPT int other(int n)
{
	return n;
}

void answer(const char *request, char *reply, size_t size)
{
	int n = atoi(request);

	snprintf(reply, size, "%d %d %d", first(n), second(n), other(n));
}
