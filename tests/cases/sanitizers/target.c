// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - uses memory of all kinds, for checkers to look at

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

KEPT int weigh(const char *word);

static int total;

int weigh(const char *word)
{
	char *copy = strdup(word);
	int n = (int)strlen(copy);

	free(copy);
	return total += n;
}

void answer(const char *request, char *reply, size_t size)
{
	int n = weigh(request);

	snprintf(reply, size, "%d", n);
}
