/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unwinders.h - the code by which a program unwinds its own stacks
 *
 * For exceptions, pthread_cancel() and backtrace(). A thread in the middle of that has read return
 * addresses from the stack, and holds them in its registers and variables: the stack must not
 * change meanwhile.
 */
#ifndef USPL_SAFETY_UNWINDERS_H
#define USPL_SAFETY_UNWINDERS_H

#include "proc/module.h"

/* Code in the process. */
struct unwinder_code {
	taddr start, end;
};

typedef VEC(struct unwinder_code) unwinder_code_vec;

/*
 * All that may be such code, the caller's to free: libraries that have an unwinder, and modules
 * that may have one inside. For a module of which nothing is known that is all of it.
 */
int unwinders_find(const struct proc *proc, const module_vec *modules, unwinder_code_vec *ret,
		   struct uspl_err *err) uspl_must_check;
/* True if the code at pc is among them. */
bool unwinders_have(const unwinder_code_vec *codes, taddr pc);

#endif
