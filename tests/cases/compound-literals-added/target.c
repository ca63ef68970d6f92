// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - arrays and a structure without names, which may be written, and lead to one another

/* the literals are written as in its patch */
/* clang-format off */
#include <stdio.h>

#include "serve.h"

struct item {
	const char *name;
	int *counts;
};

static int *one = (int[]){1, 2};
static int *two = (int[]){10, 20};
static struct item *list = (struct item[]){{"a", (int[]){5, 6}}, {"b", (int[]){7, 8}}};

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	one[0]++;
	two[0]++;
	list[1].counts[1]++;
	snprintf(reply, size, "%d %d %s %d", one[0], two[0], list[1].name, list[1].counts[1]);
}
