/* SPDX-License-Identifier: GPL-3.0-or-later */
/* blocked_place.h - where a thread is blocked */
#ifndef USPL_THREAD_BLOCKED_PLACE_H
#define USPL_THREAD_BLOCKED_PLACE_H

#include "arch/regs.h"
#include "proc/proc.h"

/*
 * What /proc/PID/task/TID/syscall says now. False if the thread runs, or is gone, or the kernel
 * doesn't tell.
 */
bool blocked_place_read(const struct proc *proc, pid_t tid, struct blocked_place *ret);

#endif
