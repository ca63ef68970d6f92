// SPDX-License-Identifier: GPL-3.0-or-later
// create_main.c - uspl-create, which `uspl create` starts

#include "command/commands.h"
#include "uspl/main_run.h"

static int create(int argc, char **argv, const char **ret_prog, struct uspl_err *err)
{
	static char name[] = "uspl-create";

	*ret_prog = argv[0] = name;
	return cmd_create(argc, argv, err);
}

int main(int argc, char **argv)
{
	return main_run(create, argc, argv);
}
