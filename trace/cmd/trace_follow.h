/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_follow.h - a process that looks which libraries a traced one opens, and traces them, too
 *
 * The dynamic linker's lists tell (proc/linkmap.h): they are compared with what they were, twenty
 * times a second, by a system call or some.
 */
#ifndef USPL_TRACE_CMD_TRACE_FOLLOW_H
#define USPL_TRACE_CMD_TRACE_FOLLOW_H

#include "proc/proc.h"

struct tracing_options;

/*
 * Starts a follower for a process that has just been traced by these options, where libraries can
 * be wanted. It ends with the session or the process. With USPL_KEEPER=none in the environment
 * there is none.
 */
void trace_follow_start(const struct proc *proc, const struct tracing_options *opts);

#endif
