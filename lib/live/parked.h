/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parked.h - stacks on which nobody runs, and that somebody will go back to
 *
 * A program may leave a stack and come back to it: coroutines (makecontext and swapcontext, or a
 * switch of their own), setjmp on one stack and longjmp on another. A function on such a stack is as
 * busy as one on a thread's, but no thread's registers lead to it. So it is looked for in memory.
 *
 *     parked_scan    before a stop, while everybody runs: finds the functions, in writable memory
 *     parked_check   in the stop: are they still there?
 */
#ifndef USPL_LIVE_PARKED_H
#define USPL_LIVE_PARKED_H

#include "live/safety.h"

/* A word in memory that is a return address into code that must be empty. */
struct parked_word {
	taddr at, pc;
	taddr sp; /* the context's that the word is part of; 0: it lies on a stack */
	/* The mapping in which the stack is, and in it the thread control block if it has one. */
	taddr start, end, tcb;
	bool is_main_stack;
	bool live; /* a stack that is parked holds it */
};

struct parked {
	struct safety *safety;
	uint64_t budget;   /* how many bytes of memory a scan may read */
	uint64_t left_out; /* how many the last one didn't look at */
	/* Of the last scan, by `at`. Only those that are live matter. */
	VEC(struct parked_word) words;
};

/* Looks through the memory. The code that must be empty is that of parked->safety. */
int parked_scan(struct parked *parked, struct uspl_err *err) uspl_must_check;
/* True if the last scan has found something that may be in the way. */
bool parked_found(const struct parked *parked);
/*
 * True if nothing that the last scan found is still there. Otherwise *ret_finding tells of it; its
 * tid is 0. The threads are those of the stop, with their registers.
 */
bool parked_check(const struct parked *parked, const thread_vec *threads,
		  struct safety_finding *ret_finding);
void parked_release(struct parked *parked);

#endif
