/* SPDX-License-Identifier: GPL-3.0-or-later */
/* proc_lock.h - one tool at a time changes a process */
#ifndef USPL_PROC_PROC_LOCK_H
#define USPL_PROC_PROC_LOCK_H

#include "proc/proc.h"

/*
 * proc_open, for a tool that will change the process: until proc_free, or until this tool dies, no
 * other one opens it so. The call waits for a tool that is at work already, up to the deadline
 * (CLOCK_MONOTONIC, nanoseconds); then it fails with USPL_E_BUSY. Whatever else passes by itself is
 * waited for until then, too (proc_deadline).
 */
int proc_open_locked(pid_t pid, int64_t deadline, struct proc **ret,
		     struct uspl_err *err) uspl_must_check;
/*
 * True if a tool that sees the same /proc has opened it so at this moment. proc is opened for
 * reading only, and not by the one that asks.
 */
bool proc_is_locked(const struct proc *proc);

#endif
