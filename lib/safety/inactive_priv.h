/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inactive_priv.h - what the files of inactive.h share */
#ifndef USPL_SAFETY_INACTIVE_PRIV_H
#define USPL_SAFETY_INACTIVE_PRIV_H

#include "arch/context.h"
#include "record/owners.h"
#include "safety/inactive.h"

#define INACTIVE_SEEN 1024

/* What is known of an address. */
struct inactive_pc {
	taddr pc;
	bool follows_call;
};

/* A scan while it runs. */
struct inactive_scan {
	struct inactive *inactive;
	const struct proc *proc;
	mapping_vec maps;        /* as of now */
	uint64_t guard;          /* glibc's pointer guard; 0: not known */
	owners_memory_vec owned; /* memory that is no thread's stack */
	/* The thread control block of one mapping, which many words lie in. */
	const struct mapping *tcb_map;
	taddr tcb;
	/* by hash: many words hold the same few addresses */
	struct inactive_pc seen[INACTIVE_SEEN];
};

/*
 * In the stop: true if the word lies on the stack of a thread that runs there, or of one that has
 * ended.
 */
bool inactive_is_threads_own(const struct inactive_word *word, const thread_vec *threads);
/* True if a call instruction of the process ends at pc. */
bool inactive_follows_call(struct inactive_scan *scan, taddr pc);
/*
 * Walks the stacks that the words may lie on, from every place in memory that may be the stack
 * pointer of an inactive one, and marks the words that are live.
 */
int inactive_walk_stacks(struct inactive_scan *scan, struct uspl_err *err) uspl_must_check;

#endif
