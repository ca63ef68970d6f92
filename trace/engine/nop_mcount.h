/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nop_mcount.h - a profiler's calls become NOPs */
#ifndef USPL_TRACE_ENGINE_NOP_MCOUNT_H
#define USPL_TRACE_ENGINE_NOP_MCOUNT_H

#include "base/types.h"

struct patch_result;
struct module;
struct proc;
struct uspl_err;

/*
 * Turns the calls of a profiler in one module into NOPs, for good; adds to the result. If there are
 * any, threads stand still for it.
 */
int nop_mcount(struct proc *proc, const struct module *module, struct patch_result *result,
	       struct uspl_err *err) uspl_must_check;

#endif
