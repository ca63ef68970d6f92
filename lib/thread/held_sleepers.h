/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * held_sleepers.h - short stops, one after the other, for which those that sleep are woken once
 *
 *     held_sleepers_run     attaches to every thread, and calls:
 *     held_sleepers_hold    once: those that sleep in a system call are stopped, looked at, and
 *                           sent back to it. From then on they are *held*: the kernel stops them
 *                           before they come back from the call
 *     held_sleepers_enter   the others are stopped. No thread executes the program's code now
 *     held_sleepers_leave   they go on, and so do those that were held and have come out; the
 *                           others sleep
 *
 * A thread that sleeps on through all of it is woken once, by held_sleepers_hold: its call is made
 * again, as after a stop (stop.h). No stop is needed to detach from it, since all of it is done by
 * a thread of the tool's that ends with it.
 */
#ifndef USPL_THREAD_HELD_SLEEPERS_H
#define USPL_THREAD_HELD_SLEEPERS_H

#include "thread/stop.h"

struct held_sleepers {
	/*
	 * Its threads; between held_sleepers_enter and held_sleepers_leave those that are to be
	 * looked at are STOPPED. A HELD one is where held_sleepers_hold has seen it.
	 */
	struct stop stop;
	/*
	 * Of the last stop, CLOCK_MONOTONIC: when threads that ran were asked to stop, and when
	 * they went on.
	 */
	int64_t entered_ns, left_ns;
	int64_t served_ns; /* when those that had come out were let go last */
	bool parents;      /* a thread had children */
};

/* What is done while sleepers are held; fails as it likes. */
typedef int held_sleepers_work(struct held_sleepers *sleepers, void *ctx, struct uspl_err *err);

/*
 * Attaches, and calls work in a thread of the tool's, which traces no thread any more when this
 * returns. The tool's signals are blocked meanwhile, so it should last some milliseconds and no
 * more. Fails as stop_prepare and work.
 */
int held_sleepers_run(const struct proc *proc, held_sleepers_work *work, void *ctx,
		      struct uspl_err *err) uspl_must_check;
/*
 * Stops those that sleep, a few at a time, and holds those for which may_stay says yes; it sees
 * them STOPPED with their registers. The others go on, and count as running; all do where writing
 * takes a thread that can be stopped (force_is_free). deadline: CLOCK_MONOTONIC, in nanoseconds.
 */
int held_sleepers_hold(struct held_sleepers *sleepers,
		       bool (*may_stay)(void *ctx, const struct thread *thread), void *ctx,
		       int64_t deadline, struct uspl_err *err) uspl_must_check;
/*
 * Stops all that run, and reads their registers. On failure held_sleepers_leave is called all the
 * same.
 */
int held_sleepers_enter(struct held_sleepers *sleepers, int64_t deadline,
			struct uspl_err *err) uspl_must_check;
/* Lets them go on. */
void held_sleepers_leave(struct held_sleepers *sleepers);
/*
 * Lets threads go on that were held and have come out. To be called now and then while nothing is
 * stopped.
 */
void held_sleepers_serve(struct held_sleepers *sleepers);
/* The same for so long. */
void held_sleepers_rest(struct held_sleepers *sleepers, int64_t ns);

#endif
