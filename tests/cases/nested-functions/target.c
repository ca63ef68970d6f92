// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - callbacks that are functions within functions

#include <stdio.h>

#include "serve.h"

static int (*held[8])(int);
static int n_held;

static KEPT void hold_first(void)
{
	int change(int x)
	{
		return x + 1;
	}

	held[n_held++] = change;
}

static KEPT void hold_second(void)
{
	int change(int x)
	{
		return x * 2;
	}

	held[n_held++] = change;
}

void answer(const char *request, char *reply, size_t size)
{
	int len = 0;

	if (!n_held || *request == '+') {
		hold_first();
		hold_second();
	}
	for (int i = 0; i < n_held; i++)
		len += snprintf(reply + len, size - (size_t)len, "%d ", held[i](10));
	snprintf(reply + len, size - (size_t)len, ".");
}
