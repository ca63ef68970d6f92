// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - chooses an entry of a table

#include <stdio.h>

#include "serve.h"

struct method {
	int id;
	const char *name;
};

static const struct method methods[] = {
	{ 1, "one" },
	{ 2, "two" },
};

static const struct method *chosen;
static int number = -1;

KEPT static int find(int id)
{
	int i = 0;

	while (methods[i].id != id)
		i++;
	return i;
}

KEPT static const char *show(void)
{
	return chosen == &methods[find(2)] ? "the same" : "another";
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	if (number < 0) {
		number = find(2);
		chosen = &methods[number];
	}
	snprintf(reply, size, "%s, %s: %s", chosen->name, methods[number].name, show());
}
