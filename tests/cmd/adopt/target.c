// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a limit that can be set, and that one function reads

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

KEPT int fits(int n);
KEPT int shown(void);

static int limit = 8;
static int other = 3;
int shared = 5;
static int pointed = 7;
static const char *word = "one";

int *kept;

KEPT int fits(int n)
{
	return n + shared + other + pointed + (int)strlen(word) <= limit + 18 ? 1 : 0;
}

KEPT int shown(void)
{
	return other;
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strncmp(request, "fits ", 5))
		snprintf(reply, size, "%d", fits(atoi(request + 5)));
	else if (!strncmp(request, "limit ", 6))
		limit = atoi(request + 6);
	else if (!strncmp(request, "all ", 4))
		other = shared = pointed = atoi(request + 4);
	else if (!strcmp(request, "point"))
		kept = &pointed;
	else if (!strcmp(request, "word"))
		word = "two";
	else if (!strcmp(request, "shown"))
		snprintf(reply, size, "%d", shown());
}
