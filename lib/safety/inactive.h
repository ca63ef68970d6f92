/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inactive.h - stacks on which no thread runs, and that one will go back to
 *
 * A program may leave a stack and come back to it: coroutines (makecontext and swapcontext, or a
 * switch of their own), setjmp on one stack and longjmp on another. A function on such a stack is
 * as busy as one on a thread's, but no thread's registers lead to it. So it is looked for in
 * memory.
 *
 *     inactive_scan       before a stop, while all threads run: finds the functions, in writable
 *                       memory
 *     inactive_check      in the stop: are they still there?
 *     inactive_plan_back  for the tracer's thunks: what do they return to?
 *     inactive_put_back   in the stop: makes them return there without the thunks
 */
#ifndef USPL_SAFETY_INACTIVE_H
#define USPL_SAFETY_INACTIVE_H

#include "safety/safety.h"

/* A word in memory that is a return address into code that must be empty. */
struct inactive_word {
	taddr at, pc;
	/*
	 * The place on a stack that it belongs to: its own, or that of a thunk of the tracer if it
	 * lies in the thunk's shadow.
	 */
	taddr place;
	taddr sp; /* that of the context that the word is part of; 0: it lies on a stack */
	/* The mapping in which the stack is, and in it the thread control block if it has one. */
	taddr start, end, tcb;
	bool is_main_stack;
	bool live;    /* an inactive stack holds it, */
	bool doubted; /* or may do: an unwind was lost below it */
};

/* What is to be written in a word's place. */
struct inactive_back {
	size_t word; /* its index */
	uint64_t value;
};

struct inactive {
	struct safety *safety;
	uint64_t budget;   /* how many bytes of memory a scan may read */
	uint64_t left_out; /* how many the last one didn't look at */
	bool full;         /* there is no room for all words that it has found: some are left out */
	/*
	 * Where a signal handler has interrupted the code and left the stack, with whatever it
	 * interrupted: one such place that the last scan has found, which isn't behind a call. Only
	 * if it is live.
	 */
	struct inactive_word interrupted;
	/* Of the last scan, by `place`. Only those that are live matter. */
	VEC(struct inactive_word) words;
	VEC(struct inactive_back) backs; /* inactive_plan_back's, */
	size_t next_back;                /* and so many of them are done */
};

/* Looks through the memory. The code that must be empty is that of inactive->safety. */
int inactive_scan(struct inactive *inactive, struct uspl_err *err) uspl_must_check;
/* True if the last scan has found something that may be in the way. */
bool inactive_found(const struct inactive *inactive);
/* A mapping in which a thread's stack is, or was. */
struct inactive_stack {
	taddr start, end;
};

typedef VEC(struct inactive_stack) inactive_stack_vec;

/*
 * True if all that the last scan has found lies on stacks of threads, living or dead: then it is in
 * the way only if no thread runs there. ret: these stacks, each once; to be released.
 */
bool inactive_on_threads(const struct inactive *inactive, inactive_stack_vec *ret);
/*
 * True if nothing that the last scan found is still there. Otherwise *ret_finding tells of it; its
 * tid is 0. The threads are those of the stop, with their registers.
 */
bool inactive_check(const struct inactive *inactive, const thread_vec *threads,
		    struct safety_finding *ret_finding);
/*
 * After a scan, when no thread enters the code any more: finds out for each word that is a return
 * address of one of the tracer's thunks what the thunk keeps for it in the shadow. Those for which
 * nothing is kept aren't live any more: no thread can return there. Words of stacks on which an
 * unwind was lost are left out, unless `all`.
 */
int inactive_plan_back(struct inactive *inactive, bool all, struct uspl_err *err) uspl_must_check;
/*
 * In the stop, if no thread is in the code: puts some of the return addresses that were found in
 * the place of the thunks'. So calls that wait on stacks that no thread is on return as they would
 * have without the thunks; their words aren't live any more. A word that has changed since is left
 * alone. *ret_n: how many calls, on failure too.
 */
int inactive_put_back(struct inactive *inactive, const thread_vec *threads, size_t *ret_n,
		      struct uspl_err *err) uspl_must_check;
/* True if there are more, for another stop. */
bool inactive_is_left(const struct inactive *inactive);
void inactive_release(struct inactive *inactive);

#endif
