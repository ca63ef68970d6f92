/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * runtimes.h - programs that read return addresses on their own stacks
 *
 * Collectors and exceptions of many languages walk stacks by code of their own, which looks each
 * return address up in its own tables. It knows nothing of a thunk's: V8 ends the program when it
 * finds one.
 */
#ifndef USPL_TRACE_ENGINE_RUNTIMES_H
#define USPL_TRACE_ENGINE_RUNTIMES_H

#include "proc/module.h"

/*
 * Refuses (USPL_E_UNSUPPORTED, naming it, with a hint) if the process has such a runtime, as far as
 * its modules' names and dynamic symbols tell: then no return address may be changed.
 */
int runtimes_refuse(const struct proc *proc, const module_vec *modules,
		    struct uspl_err *err) uspl_must_check;

#endif
