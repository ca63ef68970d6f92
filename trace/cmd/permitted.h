/* SPDX-License-Identifier: GPL-3.0-or-later */
/* permitted.h - subcommands that change a process, by leave of the machine's policy */
#ifndef USPL_TRACE_CMD_PERMITTED_H
#define USPL_TRACE_CMD_PERMITTED_H

#include "base/cli.h"
#include "base/error.h"

/*
 * Asks the policy (command/permit.h) whether the process may be traced, runs `one` if so, and
 * leaves a note of what became of it in the machine's log; for a log that doesn't take it a note is
 * printed. command: "trace start". Returns what `one` does; USPL_E_POLICY if it wasn't run.
 */
int permitted_run(const char *command, int (*one)(void *ctx, pid_t pid, struct uspl_err *err),
		  void *ctx, pid_t pid, struct uspl_err *err) uspl_must_check;
/*
 * Runs `one` for every pid, by permitted_run, until ^C, and prints what goes wrong. Returns an exit
 * status: the worst one counts.
 */
int permitted_for_each(const char *command, const pid_vec *pids,
		       int (*one)(void *ctx, pid_t pid, struct uspl_err *err), void *ctx);

#endif
