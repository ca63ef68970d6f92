/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * backend.h - how a transition brings the threads into a state in which it may check and switch
 *
 * Only lib/live includes this.
 */
#ifndef USPL_LIVE_BACKEND_H
#define USPL_LIVE_BACKEND_H

#include "proc/stop.h"

struct transition_backend {
	const char *name; /* "full stop" */
	/*
	 * Attaches, and does whatever can be done while everybody runs. Leaves nothing behind on
	 * failure.
	 */
	int (*prepare)(struct stop *stop, const struct proc *proc, struct uspl_err *err);
	/* After this returns 0 no thread runs, and stop->threads have their registers. */
	int (*enter)(struct stop *stop, int64_t deadline_ns, struct uspl_err *err);
	/* Everybody goes on. Always called after a successful prepare. */
	void (*leave)(struct stop *stop);
};

/*
 * Every thread is stopped by ptrace (PTRACE_SEIZE and PTRACE_INTERRUPT). Works everywhere; its
 * length grows with the number of threads.
 */
extern const struct transition_backend backend_full_stop;

#endif
