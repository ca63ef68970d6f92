/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pids.h - a subcommand for each of several processes */
#ifndef USPL_TRACE_CMD_PIDS_H
#define USPL_TRACE_CMD_PIDS_H

#include "base/cli.h"

/*
 * Runs `one` for every pid, by permitted_run, until ^C, and prints what goes wrong. Returns an exit
 * status: the worst one counts.
 */
int pids_for_each(const char *command, const pid_vec *pids,
		  int (*one)(void *ctx, pid_t pid, struct uspl_err *err), void *ctx);

#endif
