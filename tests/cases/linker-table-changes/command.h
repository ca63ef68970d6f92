/* SPDX-License-Identifier: GPL-3.0-or-later */
/* command.h - the entries of a table that the linker makes */
#ifndef COMMAND_H
#define COMMAND_H

struct __attribute__((aligned(8))) command {
	const char *name;
	int needs_root;
	int (*run)(void);
};

#endif
