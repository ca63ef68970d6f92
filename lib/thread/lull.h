/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lull.h - short stops, one after the other, for which those that sleep are woken once
 *
 *     lull_run     attaches to every thread, and calls:
 *     lull_catch     once: those that sleep in a system call are stopped, looked at, and sent back
 *                    to it. From then on
 *                    they are *caught*: the kernel stops them before they come back from the call
 *     lull_enter     those that run are stopped. Nobody executes the program's code now
 *     lull_leave     they go on, and so do those that were caught and have come out; the others
 *                    sleep
 *
 * Who sleeps on through all of it is woken once, by lull_catch: its call is made again, as after a
 * stop (stop.h). It is never detached from by a stop, since all of it is done by a thread of ours
 * that ends with it.
 */
#ifndef USPL_THREAD_LULL_H
#define USPL_THREAD_LULL_H

#include "thread/stop.h"

struct lull {
	/*
	 * Its threads; between lull_enter and lull_leave those that are to be looked at are
	 * STOPPED. A CAUGHT one is where lull_catch has seen it.
	 */
	struct stop stop;
	/*
	 * Of the last stop, CLOCK_MONOTONIC: when those that ran were asked to stop, and when they
	 * went on.
	 */
	int64_t entered_ns, left_ns;
	int64_t served_ns; /* when those that had come out were let go last */
	bool parents;      /* a thread had children */
};

/* What is done in a lull; fails as it likes. */
typedef int lull_work(struct lull *lull, void *ctx, struct uspl_err *err);

/*
 * Attaches, and calls work in a thread of ours of which nobody is traced any more when this
 * returns. Our signals are blocked meanwhile, so it should last some milliseconds and no more.
 * Fails as stop_prepare and work.
 */
int lull_run(const struct proc *proc, lull_work *work, void *ctx,
	     struct uspl_err *err) uspl_must_check;
/*
 * Stops those that sleep, a few at a time, and catches those about whom may_stay, which sees them
 * STOPPED with their registers, says yes. The others go on, and count as running; all do where
 * writing takes a thread that can be stopped (force_is_free). deadline: CLOCK_MONOTONIC, in
 * nanoseconds.
 */
int lull_catch(struct lull *lull, bool (*may_stay)(void *ctx, const struct thread *thread),
	       void *ctx, int64_t deadline, struct uspl_err *err) uspl_must_check;
/* Stops all that run, and reads their registers. On failure lull_leave is called all the same. */
int lull_enter(struct lull *lull, int64_t deadline, struct uspl_err *err) uspl_must_check;
/* Lets them go on. */
void lull_leave(struct lull *lull);
/*
 * Lets those go on that were caught and have come out. To be called now and then while nothing is
 * stopped.
 */
void lull_serve(struct lull *lull);
/* The same for so long. */
void lull_rest(struct lull *lull, int64_t ns);

#endif
