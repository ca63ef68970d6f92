// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - uses the library

#include <stdio.h>

#include "serve.h"

int calc(void);
int helper(void);

int factor = 5;

int helper(void)
{
	return 7000;
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%d", calc());
}
