/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hold.h - opens what of a process can be read when it is over (remains.h) */
#ifndef USPL_PROC_HOLD_H
#define USPL_PROC_HOLD_H

#include "proc/module.h"

/*
 * Holds the shared memory that lies at addr. USPL_E_PERMISSION: the kernel opens mappings for tools
 * with CAP_CHECKPOINT_RESTORE (or CAP_SYS_ADMIN) only; then the memory goes with the process.
 */
int hold_memory(struct proc *proc, taddr addr, struct uspl_err *err) uspl_must_check;
/* Holds the files of the modules; those that can't be opened are left out. */
int hold_files(struct proc *proc, const module_vec *modules, struct uspl_err *err) uspl_must_check;

#endif
