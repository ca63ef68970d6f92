/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parked_priv.h - what the files of parked.h share */
#ifndef USPL_SAFETY_PARKED_PRIV_H
#define USPL_SAFETY_PARKED_PRIV_H

#include "arch/context.h"
#include "record/traced.h"
#include "safety/parked.h"

#define PARKED_SEEN 1024

/* What is known of an address. */
struct parked_pc {
	taddr pc;
	bool follows_call;
};

/* A scan while it runs. */
struct parked_scan {
	struct parked *parked;
	const struct proc *proc;
	mapping_vec maps; /* as of now */
	uint64_t guard;   /* glibc's pointer guard; 0: not known */
	struct trace_session session;
	/* The thread control block of one mapping, which many words lie in. */
	const struct mapping *tcb_map;
	taddr tcb;
	struct parked_pc seen[PARKED_SEEN]; /* by hash: many words hold the same few addresses */
};

/* True for memory that the tracer's runtime keeps addresses of code in: nobody's stack is there. */
bool parked_is_tracers(const struct parked_scan *scan, taddr addr);

/*
 * In the stop: true if the word lies on the stack of a thread that runs there, or of one that has
 * ended.
 */
bool parked_is_threads_own(const struct parked_word *word, const thread_vec *threads);
/* True if a call instruction of the process ends at pc. */
bool parked_follows_call(struct parked_scan *scan, taddr pc);
/*
 * Walks the stacks that the words may lie on, from every place in memory that may be the stack
 * pointer of one that is parked, and marks the words that are live.
 */
int parked_walk_stacks(struct parked_scan *scan, struct uspl_err *err) uspl_must_check;

#endif
