// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - an object behind a pointer to void

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

struct record {
	int kind;
	int length;
};

static void *held;

KEPT static void show(void *data, char *reply, size_t size)
{
	snprintf(reply, size, "%d %d", ((struct record *)data)->kind,
		 ((struct record *)data)->length);
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	if (!held) {
		held = malloc(sizeof(struct record));
		((struct record *)held)->kind = 3;
		((struct record *)held)->length = 7;
	}
	show(held, reply, size);
}
