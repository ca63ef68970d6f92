// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has functions that llvm-bolt lays out anew, and one that it leaves as it is

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

KEPT int plain(int n)
{
	return n + 1;
}

KEPT int turned(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += n % 3 == 0 ? plain(i) : n % 5 == 1 ? plain(sum) + 2 : sum;
	return sum;
}

KEPT void answer(const char *request, char *reply, size_t size)
{
	int n = atoi(request);

	if (!strncmp(request, "plain", 5))
		snprintf(reply, size, "%d", plain(atoi(request + 5)));
	else
		snprintf(reply, size, "%d", turned(n));
}
