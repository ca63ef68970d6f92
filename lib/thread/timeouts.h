/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * timeouts.h - the time that is left of the time-outs of calls that a stop interrupts
 *
 *     timeouts_note      while the threads sleep: which are in a call with a time-out, and since
 *     when
 *     timeouts_ask       right before a thread is asked to stop,
 *     timeouts_asked     and right after: is it still in that call? (It stops)
 *     timeouts_shorten   its call will go on with what is left, not with the whole time-out
 *     timeouts_release
 *
 * The new time-out goes into the argument's register, where the code behind the call doesn't use
 * the old value; where it is a pointer it then points to a place of the tool's, in the unused end
 * of a page of constants of some module, which stays there as long as the module. A call about
 * which something isn't known is left as it is, and starts anew with its whole time-out.
 */
#ifndef USPL_THREAD_TIMEOUTS_H
#define USPL_THREAD_TIMEOUTS_H

#include "arch/syscall_timeout.h"
#include "thread/runcount.h"

/* A thread in such a call. */
struct timeout {
	pid_t tid;
	struct blocked_place place;
	struct syscall_timeout call;
	struct runcount count;
	uint64_t runs, preempted;  /* its run count then, and how often it had made way */
	int64_t left_ns, as_of_ns; /* when (CLOCK_MONOTONIC) how much was left, at least */
	int64_t asleep_ns;         /* when it was seen asleep last, before it was asked to stop */
	bool interrupted;          /* it is this call that was interrupted, and none after it */
	taddr room;                /* for the new struct timespec, 0: none is needed */
};

struct timeouts {
	const struct proc *proc;
	VEC(struct timeout) items;
	size_t cursor; /* where the next thread is looked for first */
};

/*
 * Notes those of the threads that are asleep in such a call. To be called at leisure, before they
 * are stopped: about 5 us a thread, and 100 for each of which there is something to note. Adds to
 * what there is; { .proc } is an empty list. No failure.
 */
void timeouts_note(struct timeouts *timeouts, const pid_t *tids, size_t n);
/*
 * Around the request to stop: a thread that has come out of its call just then, and is in the next
 * one, which looks the same, would have what is left of the former one.
 */
struct timeout *timeouts_ask(struct timeouts *timeouts, pid_t tid);
/* Of what timeouts_ask has returned, which may be NULL. */
void timeouts_asked(const struct timeouts *timeouts, struct timeout *timeout);
/*
 * regs are those of a thread that has been stopped. If it was noted and has only been stopped
 * since, changes them so that its call will wait for what is left; the result of the call is left
 * alone. True if they were changed.
 */
bool timeouts_shorten(struct timeouts *timeouts, pid_t tid, struct arch_regs *regs);
void timeouts_release(struct timeouts *timeouts);

#endif
