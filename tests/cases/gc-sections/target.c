// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has a function that nothing calls

#include <stdio.h>

#include "serve.h"

int total = 6;
int seven(void);
int spare(void);
int add(int n);

KEPT int add(int n)
{
	total += n;
	return total;
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%d", seven());
}
