/* SPDX-License-Identifier: GPL-3.0-or-later */
/* threads.h - the key under which threads keep the thread-local variables of new code */
#ifndef USPL_APPLY_THREADS_H
#define USPL_APPLY_THREADS_H

#include "link/link.h"
#include "proc/module.h"
#include "record/region.h"

/*
 * Makes the key of a loaded region whose code brings thread-local variables; does nothing to one
 * that has it. USPL_E_UNSUPPORTED: the process has used up its keys, or the processor lacks what
 * runtime/threads.S needs.
 */
int threads_make_key(struct proc *proc, const module_vec *modules, const struct link *link,
		     struct region *region, struct uspl_err *err) uspl_must_check;
/* Gives the key back, before the region is unmapped; its code has never run. */
int threads_drop_key(struct proc *proc, const module_vec *modules, struct region *region,
		     struct uspl_err *err) uspl_must_check;

#endif
