// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - an object that functions get by a pointer to void

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

struct record {
	int kind;
	int length;
};

static void *held;

static void show(const struct record *record, char *reply, size_t size)
{
	snprintf(reply, size, "%d %d", record->kind, record->length);
}

KEPT static void hold(int kind, int length)
{
	struct record record = { .kind = kind, .length = length };

	held = malloc(sizeof(record));
	if (held)
		memcpy(held, &record, sizeof(record));
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	if (!held)
		hold(3, 7);
	show(held, reply, size);
}
