// SPDX-License-Identifier: GPL-3.0-or-later
// add.c - a command

#include "command.h"

static int add(void)
{
	return 1;
}

static const struct command cmd_add __attribute__((used, section("commands"))) = {
	.name = "add",
	.needs_root = 0,
	.run = add,
};
