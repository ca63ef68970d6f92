// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - an object on the heap

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

struct block {
	int item[8];
};

static struct block *block;

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	if (!block)
		block = calloc(1, sizeof(*block));
	if (!block)
		return;
	block->item[1] = 3;
	snprintf(reply, size, "%d", block->item[1] + block->item[0]);
}
