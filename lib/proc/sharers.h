/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sharers.h - processes that share their memory with another one without being its threads */
#ifndef USPL_PROC_SHARERS_H
#define USPL_PROC_SHARERS_H

#include "proc/proc.h"

/*
 * Refuses (USPL_E_UNSUPPORTED, naming it) if another process runs in the same memory: a child of
 * clone(CLONE_VM), or of vfork() that has not yet called exec. Stopping the threads of this process
 * would not stop that one. Kernels without kcmp(2) (CONFIG_KCMP, Linux 3.5) can't tell; then
 * nothing is refused.
 */
int sharers_refuse(const struct proc *proc, struct uspl_err *err) uspl_must_check;

#endif
