/* SPDX-License-Identifier: GPL-3.0-or-later */
/* live_options.h - the options that apply and undo have in common */
#ifndef USPL_COMMAND_LIVE_OPTIONS_H
#define USPL_COMMAND_LIVE_OPTIONS_H

#include "base/cli.h"
#include "proc/proc.h"

struct permit;

struct live_options {
	double wait_s, max_pause_s, hook_limit_s, hook_pause_s;
	int scan_mib;
	bool stop, by_thread, check, json;
	/*
	 * Of apply: ids, separated by commas, of the updates whose place the new one takes; "":
	 * those that it names itself; NULL: it takes none's.
	 */
	const char *replace;
	const struct permit *permit; /* asked of each process (permit.h); NULL: it isn't */
	uint64_t starttime; /* of the one process that is meant; 0: whatever process has the pid */
};

/* USPL_E_NO_PROCESS if that process has ended, and its pid is another one's. */
static inline int live_options_check(const struct live_options *opts, const struct proc *proc,
				     struct uspl_err *err)
{
	if (!opts->starttime || opts->starttime == proc->starttime)
		return 0;
	return uspl_fail(err, USPL_E_NO_PROCESS, "pid %d has ended: another process has its pid",
			 proc->pid);
}

/* USPL_E_USAGE for options that contradict each other. */
static inline int live_options_agree(const struct live_options *opts, struct uspl_err *err)
{
	if (!opts->by_thread || !(opts->stop || opts->replace))
		return 0;
	return uspl_fail(err, USPL_E_USAGE, "--by-thread and %s can't be used together",
			 opts->stop ? "--stop" : "--replace");
}

/* The values where no option is given. */
#define LIVE_OPTIONS_DEFAULT                                                                       \
	{                                                                                          \
		.wait_s = 10, .scan_mib = 4096, .hook_limit_s = 1, .hook_pause_s = 0.1             \
	}

/* Their lines in a command's table; opts is a struct live_options *. */
/* clang-format off */
#define LIVE_OPTIONS(opts)                                                                         \
	{ 'w', "wait", "SECONDS", CLI_SECONDS, &(opts)->wait_s,                                    \
	  "how long to wait for a busy function (default 10)" },                                   \
	{ 0, "max-pause", "SECONDS", CLI_SECONDS, &(opts)->max_pause_s,                            \
	  "give up rather than stop the threads for longer" },                                     \
	{ 0, "scan", "MIB", CLI_INT, &(opts)->scan_mib,                                            \
	  "how much memory to search for parked stacks (default 4096)" },                          \
	{ 0, "hook-limit", "SECONDS", CLI_SECONDS, &(opts)->hook_limit_s,                          \
	  "how long a hook of the update may run (default 1)" },                                   \
	{ 0, "hook-pause", "SECONDS", CLI_SECONDS, &(opts)->hook_pause_s,                          \
	  "the same while all threads stand still for it (default 0.1)" },                         \
	{ 0, "stop", NULL, CLI_FLAG, &(opts)->stop,                                                \
	  "stop every thread, also those that sleep" },                                            \
	{ 0, "by-thread", NULL, CLI_FLAG, &(opts)->by_thread,                                      \
	  "let threads go over one by one, each when it isn't in the functions" },                 \
	{ 0, "check", NULL, CLI_FLAG, &(opts)->check,                                              \
	  "change nothing: say who would be in the way, and how long it takes" },                  \
	{ 0, "json", NULL, CLI_FLAG, &(opts)->json, "one JSON object a process, one to a line" }
/* clang-format on */

#endif
