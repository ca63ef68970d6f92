// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - lists the commands

#include <stdio.h>

#include "command.h"
#include "serve.h"

extern const struct command __start_commands[], __stop_commands[];

void answer(const char *request, char *reply, size_t size)
{
	const struct command *command;

	(void)request;
	for (command = __start_commands; command < __stop_commands; command++)
		snprintf(reply, size, "%s:%d:%d", command->name, command->needs_root,
			 command->run());
}
