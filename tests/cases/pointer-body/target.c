// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - reads a table in memory of malloc's

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

#define ROWS 5
#define COLUMNS 4

static int (*table)[COLUMNS];

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	if (!table) {
		table = malloc(400);
		for (int i = 0; i < ROWS * 4; i++)
			((int *)table)[i] = i;
	}
	snprintf(reply, size, "%d", table[2][1]);
}
