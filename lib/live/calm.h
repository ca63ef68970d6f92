/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calm.h - calls of the program's own functions, in a thread that holds none of their locks */
#ifndef USPL_LIVE_CALM_H
#define USPL_LIVE_CALM_H

#include "proc/inject.h"
#include "proc/module.h"

/*
 * Runs the requests (inject.h) in a thread that holds no lock of the allocator, the dynamic linker
 * or libgcc. USPL_E_BUSY: for some seconds no thread was at a place where that can be said; then
 * nothing was called.
 */
int calm_run(struct proc *proc, const module_vec *modules, struct inject_req *reqs, size_t n,
	     struct uspl_err *err) uspl_must_check;

#endif
