// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - what changes

#include <stdio.h>
#include <stdlib.h>

#include "other.h"
#include "serve.h"

KEPT int price(int n);

int price(int n)
{
	return n * 2;
}

void answer(const char *request, char *reply, size_t size)
{
	int n = atoi(request);

	snprintf(reply, size, "%d %d", price(n), describe_total());
}
