// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - uses the library

#include <stdio.h>

#include "serve.h"

int calc(int n);
int scale(int n);
int shift(int n);

int shift(int n)
{
	return -n;
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%d %d", scale(5), calc(1));
}
