// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - computes with a number in two ways

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

int bits(unsigned long n);
unsigned long share(unsigned long n);

KEPT int bits(unsigned long n)
{
	return n != 0;
}

KEPT unsigned long share(unsigned long n)
{
	return n / 3;
}

void answer(const char *request, char *reply, size_t size)
{
	unsigned long n = strtoul(request, NULL, 10);

	snprintf(reply, size, "%d %lu", bits(n), share(n));
}
