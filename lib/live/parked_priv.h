/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parked_priv.h - what the files of parked.h share */
#ifndef USPL_LIVE_PARKED_PRIV_H
#define USPL_LIVE_PARKED_PRIV_H

#include "arch/context.h"
#include "live/parked.h"
#include "live/traced.h"

/* A scan while it runs. */
struct parked_scan {
	struct parked *parked;
	const struct proc *proc;
	mapping_vec maps; /* as of now */
	uint64_t guard;   /* glibc's pointer guard; 0: not known */
	struct trace_session session;
};

/* True for memory that the tracer's runtime keeps addresses of code in: nobody's stack is there. */
bool parked_is_tracers(const struct parked_scan *scan, taddr addr);

/* True if a call instruction of the process ends at pc. */
bool parked_follows_call(const struct proc *proc, taddr pc);
/*
 * Walks the stacks that the words may lie on, from every place in memory that may be the stack
 * pointer of one that is parked, and marks the words that are live.
 */
int parked_walk_stacks(struct parked_scan *scan, struct uspl_err *err) uspl_must_check;

#endif
