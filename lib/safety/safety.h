/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * safety.h - may this thread go on with other code?
 *
 * A thread is safe when no frame of its stack lies in code that is about to be replaced. With a
 * complete unwind that is proven; where the unwind is lost, every remaining word of the stack
 * counts as a return address, so that the answer errs to "busy" and never to "safe".
 */
#ifndef USPL_SAFETY_SAFETY_H
#define USPL_SAFETY_SAFETY_H

#include "base/cleanup.h"
#include "inject/inject.h"
#include "thread/blocked.h"
#include "thread/sampler.h"
#include "thread/thread.h"
#include "unwind/unwind.h"

/* Code that must be empty. */
struct safety_range {
	taddr start, end;
	const char *name; /* the function; owned by the caller */
	/* A thread that stands exactly at start hasn't begun the function and may stay there. */
	bool entry_ok;
};

struct safety {
	const struct proc *proc;
	struct unwinder *unwinder;
	VEC(struct safety_range) ranges; /* sorted by safety_seal */
};

#define SAFETY_CHAIN_MAX 32
/* What is in the way. */
struct safety_finding {
	pid_t tid;
	const char *function; /* a range's name */
	bool running;    /* the thread is in it right now; else it waits for a call to return */
	bool proven;     /* found by unwinding; else by a word on the stack that looks like it */
	bool unreadable; /* the stack can't be read: nothing is known */
	taddr chain[SAFETY_CHAIN_MAX]; /* program counters, innermost first; deep ones are cut */
	size_t n_chain;
	size_t at;        /* the index in chain of the innermost frame that is in the way */
	size_t outermost; /* and of the outermost one */
	bool complete;    /* all frames are known, to the thread's first one, */
	bool whole;       /* and the chain has all of them */
	/*
	 * Where the outermost frame in the way returns to, and the stack pointer after that. 0 if
	 * that isn't known.
	 */
	taddr return_pc, return_sp;
	/*
	 * From return_sp up to here no frame has room for a signal stack, of MINSIGSTKSZ bytes.
	 */
	taddr near_sp;
	bool in_handler; /* outwards from there something was interrupted by a signal */
};

/* The range that addr lies in, or NULL. */
const struct safety_range *safety_range_at(const struct safety *safety, taddr addr);
/* Adds a range. */
int safety_add(struct safety *safety, const char *name, taddr start, uint64_t size, bool entry_ok,
	       struct uspl_err *err) uspl_must_check;
/* Adds the agents that commands which have died have left: a thread may still be in one. */
int safety_add_left(struct safety *safety, const module_vec *modules, inject_left_vec *ret_left,
		    struct uspl_err *err) uspl_must_check;
/* To be called once after the last safety_add. */
void safety_seal(struct safety *safety);
/*
 * True if the stopped thread (with its registers read) is safe; otherwise *ret_finding tells why
 * not. Makes no failure: doubt is "no".
 */
bool safety_check(struct safety *safety, const struct thread *thread,
		  struct safety_finding *ret_finding);
/*
 * The same for a thread that sleeps, with what is known of its registers. The answer is true of the
 * time until now only if the thread hasn't run meanwhile (blocked_unchanged). It errs to "no" more
 * often than for a stopped thread: a finding that isn't `proven` may be an old word of the stack.
 */
bool safety_check_blocked(struct safety *safety, const struct blocked_thread *thread,
			  struct safety_finding *ret_finding);
/*
 * The same for a thread that runs, as it was at the instant of the sample. Only what the unwind
 * finds in the copy of its stack counts: where it needs more, nothing is known, and the answer is
 * "no" with a finding that isn't `proven`.
 */
bool safety_check_sample(struct safety *safety, pid_t tid,
			 const struct thread_sample *thread_sample,
			 struct safety_finding *ret_finding);
/*
 * Follows the stack of a thread that runs, as it is at an instant from now on, and forgets the
 * result. So what takes long for code that hasn't been met before, some 8 us a frame, is done
 * before a thread waits for it. False if the thread isn't seen for half a millisecond, since it
 * sleeps or waits for a processor.
 */
bool safety_warm_unwinder(struct safety *safety, struct sampler *sampler);
/* Frees the ranges. */
void safety_release(struct safety *safety);
DEFINE_AUTO_RELEASE(safety, struct safety, safety_release)
#define auto_safety __attribute__((cleanup(cleanup_safety_)))

#endif
