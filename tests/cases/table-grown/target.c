// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - looks for commands in a table, and keeps the address of one

#include <stdio.h>
#include <string.h>

#include "serve.h"

struct command {
	const char *name;
	int number;
};

static const struct command commands[] = {
	{ "get", 1 },
	{ "set", 2 },
};

static const struct command *kept;

KEPT static const struct command *find(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

void answer(const char *request, char *reply, size_t size)
{
	const struct command *command;

	if (!kept)
		kept = find("set");
	if (!strncmp(request, "find ", 5)) {
		command = find(request + 5);
		snprintf(reply, size, "%d", command ? command->number : 0);
	} else {
		snprintf(reply, size, "%s %d", kept->name, kept->number);
	}
}
