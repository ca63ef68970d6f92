// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - another one

#include <stdio.h>
#include <stdlib.h>

#include "rate.h"
#include "serve.h"

KEPT int total(int n)
{
	return rate(n) + n;
}

KEPT void answer(const char *request, char *reply, size_t size)
{
	int n = atoi(request);

	snprintf(reply, size, "%d %d", price(n), total(n));
}
