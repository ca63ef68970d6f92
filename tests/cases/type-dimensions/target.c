// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - an array in an object on the heap

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

struct grid {
	int width;
	int cell[2][3];
};

static struct grid *grid;

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	if (!grid) {
		grid = calloc(1, sizeof(*grid));
		if (!grid)
			return;
		grid->cell[1][1] = 5;
	}
	snprintf(reply, size, "%d", grid->cell[1][1]);
}
