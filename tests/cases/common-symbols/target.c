// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - adds to a variable that two files have

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

int total;
int previous;

int other_total(void);

KEPT void add(int n, char *reply, size_t size);

void add(int n, char *reply, size_t size)
{
	previous = total;
	total += n;
	snprintf(reply, size, "%d %d", other_total(), previous);
}

void answer(const char *request, char *reply, size_t size)
{
	add(atoi(request), reply, size);
}
