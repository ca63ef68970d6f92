/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stop.h - all threads of a process at a standstill, for as short as possible
 *
 *     stop_prepare   attach to every thread; none stands still yet, but those that were late before
 *     stop_sleepers  those that sleep stand still
 *     stop_enter     ask all to stop, wait for each, look for new ones, until there are none
 *     stop_leave     let all go on and detach
 *
 * Or only some of them: stop_begin, stop_some once or more, stop_leave.
 *
 * What is expensive (listing, attaching) lies before the standstill. Threads that sleep are stopped
 * first and go on last: they notice nothing of it, unless they are woken just then. And threads
 * that run stand still only for each other.
 */
#ifndef USPL_THREAD_STOP_H
#define USPL_THREAD_STOP_H

#include "thread/reap.h"
#include "thread/thread.h"
#include "thread/timeouts.h"
#include "thread/urgency.h"

struct stop {
	const struct proc *proc;
	thread_vec threads;
	struct reaper reaper;
	struct timeouts timeouts; /* of calls that threads are in; they point to it */
	sigset_t old_mask;        /* the tool's own signal mask, from before */
	struct urgency urgency;   /* and its priority */
	size_t n_threads;         /* that stood still */
	bool has_others;          /* all stand still, since one of some has children */
	pid_t stuck;              /* a thread that has not stopped by the end, 0 if there is none */
	/* CLOCK_MONOTONIC: when the first thread was asked to stop, and the last let go, */
	int64_t entered_ns, left_ns;
	int64_t halted_ns; /* and, in stop_enter, when threads that ran were asked */
};

/*
 * Attaches to all threads. Blocks the tool's own signals until stop_leave, so that ^C can't end it
 * in between. On failure everything is detached again. stop_leave must follow in any case but
 * failure.
 */
int stop_attach(struct stop *stop, const struct proc *proc, struct uspl_err *err) uspl_must_check;
/*
 * Threads that were late, so that an earlier stop was given up, come first: those that this stop is
 * attached to stand still when it returns. As long as none of them does they may take until the
 * command's --wait is over (proc_deadline); then as long as each has been late by, or it fails
 * with USPL_E_UNSTOPPABLE. For then only they stand still, which have no processor to lose.
 */
int stop_late(struct stop *stop, struct uspl_err *err) uspl_must_check;
/* Both. */
int stop_prepare(struct stop *stop, const struct proc *proc, struct uspl_err *err) uspl_must_check;
/*
 * The first part of stop_enter, for callers that have something to do before the threads that run
 * stand still: brings those that slept in stop_prepare (thread->slept) to a standstill, and reads
 * their registers. On failure as stop_enter.
 */
int stop_sleepers(struct stop *stop, int64_t deadline, struct uspl_err *err) uspl_must_check;
/*
 * Brings all threads to a standstill and reads their registers. deadline: CLOCK_MONOTONIC, in
 * nanoseconds. On failure the caller still calls stop_leave.
 */
int stop_enter(struct stop *stop, int64_t deadline, struct uspl_err *err) uspl_must_check;
/* Blocks the tool's own signals until stop_leave; attaches to no thread. */
void stop_begin(struct stop *stop, const struct proc *proc);
/*
 * Asks the threads that it is attached to to stop, all or only those that slept; those with
 * children last: by then their ends wake no thread that could come out of its call.
 */
void stop_ask(struct stop *stop, bool only_slept);
/*
 * Brings these threads to a standstill, too, and reads their registers. They become the last ones
 * of stop->threads; one that has exited is GONE. As long as none stands still it begins with
 * stop_late, and the deadline counts without the time that this takes. If one of them has children,
 * all other threads stand still, too (thread->beside): as long as it does, the end of a child would
 * wake one of them (task_has_children).
 */
int stop_some(struct stop *stop, const tid_vec *tids, int64_t deadline,
	      struct uspl_err *err) uspl_must_check;
/* Lets one of them go on before the others. */
void stop_let_go(struct stop *stop, struct thread *thread);
/*
 * Lets those that stand still go on. Those with children first: a child's end wakes none of those
 * that still stand. Last those that go back to their calls (stop_is_last).
 */
void stop_go(struct stop *stop);
bool stop_is_last(const struct thread *thread);
/*
 * Lets all threads go on and detaches from them. A thread that was asked to stop and hasn't is
 * waited for then, until the command's --wait is over; if that doesn't help it is `stuck`, and let
 * go when this process ends (thread_end_left), or else, where this isn't the main thread, waited
 * for as long as that would.
 */
void stop_leave(struct stop *stop);
/*
 * The same for a thread of the tool's that ends now: threads that stand still, or were asked to, go
 * on, and from the others that it is attached to the kernel detaches it as it ends, without a stop.
 */
void stop_end(struct stop *stop);
/*
 * Makes an attempt that stops threads and lets them go, and makes it anew as long as it fails with
 * USPL_E_UNSTOPPABLE, until the command's --wait is over, and for 5 s at least: on a busy machine a
 * thread that wants to run can't be stopped before its turn comes, and the others don't stand still
 * for it all that time. What an attempt has done before it fails must not be in the way of the
 * next. USPL_E_CANCELLED is possible between two of them.
 */
typedef int stop_attempt(void *ctx, struct uspl_err *err);
int stop_again(const struct proc *proc, stop_attempt *attempt, void *ctx,
	       struct uspl_err *err) uspl_must_check;

#endif
