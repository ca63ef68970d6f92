/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack.h - an unwinder that knows the code of updates and of the tracer, too */
#ifndef USPL_SAFETY_STACK_H
#define USPL_SAFETY_STACK_H

#include "proc/module.h"
#include "unwind/unwind.h"

/*
 * An unwinder for all code of the process: its modules, every update that is in it, and the tracer.
 * modules must outlive it, and proc->maps must be current.
 */
int stack_unwinder_new(const struct proc *proc, const module_vec *modules, struct unwinder **ret,
		       struct uspl_err *err) uspl_must_check;

#endif
