// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - counts in two thread-local variables

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

KEPT int count(int n);

static __thread int sum, times;

int count(int n)
{
	sum += n;
	times += n;
	return sum * times;
}

void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "%d", count(atoi(request)));
}
