/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * selection.h - the processes that a command line means
 *
 * Processes are named, by pids and pid files, or selected. A process is selected if it fits every
 * sort of selector that was given, and of each sort one; `--all` alone selects all of them. Named
 * processes are meant besides.
 */
#ifndef USPL_MACHINE_SELECTION_H
#define USPL_MACHINE_SELECTION_H

#include "base/buf.h"
#include "base/cli.h"

/* A program, as --exe has it. */
struct selection_exe {
	char *path;          /* absolute, without links, if the file is there */
	uint64_t dev, inode; /* of the file; 0, 0 if it isn't there */
};

/* A process, as --tree has it. */
struct selection_root {
	pid_t pid;
	uint64_t starttime;
};

struct selection {
	/* What the command line has, owned by argv. */
	bool all;
	cli_strings exes, units, trees, users, pid_files, pids;
	/* What selection_read makes of it. */
	pid_vec named; /* each pid once, in their order */
	VEC(struct selection_exe) files;
	VEC(struct selection_root) roots;
	VEC(uid_t) uids;
	pid_vec only;
};

/* The lines of the selectors in a command's table; sel is a struct selection *. */
/* clang-format off */
#define SELECTION_OPTIONS(sel)                                                                     \
	{ 0, "exe", "PATH", CLI_STRINGS, &(sel)->exes, "processes that run this program" },        \
	{ 0, "unit", "NAME", CLI_STRINGS, &(sel)->units,                                           \
	  "processes of a systemd unit, or of a control group" },                                  \
	{ 0, "tree", "PID", CLI_STRINGS, &(sel)->trees, "a process and all that come of it" },     \
	{ 0, "user", "NAME", CLI_STRINGS, &(sel)->users, "processes of a user" },                  \
	{ 0, "only", "PID", CLI_STRINGS, &(sel)->pids, "this process, if it is meant otherwise" }, \
	{ 0, "pid-file", "FILE", CLI_STRINGS, &(sel)->pid_files, "the process that FILE names" }
#define SELECTION_ALL(sel)                                                                         \
	{ 0, "all", NULL, CLI_FLAG, &(sel)->all, "all processes that it is for" }
/* clang-format on */

/*
 * Takes the pids among the operands, and reads what the selectors refer to: pid files, the roots of
 * trees, users' numbers. USPL_E_USAGE for an operand that isn't a pid; USPL_E_NO_PROCESS for a tree
 * whose root isn't there; USPL_E_FILE, or a failed system call, for a pid file without a pid, and
 * for a user that /etc/passwd doesn't know.
 */
int selection_read(struct selection *sel, char **words, int n,
		   struct uspl_err *err) uspl_must_check;
/* True if there are selectors, --all among them. */
bool selection_selects(const struct selection *sel);
/* True if there are selectors that mean some of all processes. */
bool selection_narrows(const struct selection *sel);
/* True unless a single process is meant, by its pid. */
bool selection_is_many(const struct selection *sel);
/* True if neither a process is named nor one selected. */
bool selection_is_empty(const struct selection *sel);
/* Appends what the selectors say, for messages: "--unit=redis --user=joe". */
void selection_describe(const struct selection *sel, struct buf *out);
/* Frees everything. */
void selection_release(struct selection *sel);

DEFINE_AUTO_RELEASE(selection, struct selection, selection_release)
#define auto_selection __attribute__((cleanup(cleanup_selection_)))

#endif
