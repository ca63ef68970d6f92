/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_keep.h - a process that waits for a traced one's end, and saves what was recorded
 *
 * The rings, and what is known of open calls, lie in memory that the traced process shares with
 * whoever opens it. The keeper has it open, and the files of the modules, and sleeps until the
 * process is over, or its tracing is. It runs nothing in between.
 */
#ifndef USPL_TRACE_CMD_TRACE_KEEP_H
#define USPL_TRACE_CMD_TRACE_KEEP_H

#include "proc/proc.h"

/*
 * Starts a keeper for a process that has just been traced, and waits until it holds all. Where it
 * can't, the records go with the process; for root that is said on stderr. With USPL_KEEPER=none in
 * the environment there is none.
 */
void trace_keep_start(const struct proc *proc);

#endif
