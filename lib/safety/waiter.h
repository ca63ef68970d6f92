/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * waiter.h - waits for the moment at which busy functions are left
 *
 * After a stop that found threads in the way, all threads run again. Trying once more is of use
 * only when these threads have left the functions, and then it should be done at once, before they
 * enter them again. So the place where the outermost of these functions returns to is watched in
 * each of the threads (thread/hw_breakpoint.h), which costs them nothing.
 */
#ifndef USPL_SAFETY_WAITER_H
#define USPL_SAFETY_WAITER_H

#include "safety/safety.h"
#include "thread/hw_breakpoint.h"

/* How many threads are remembered that have returned from a busy function. */
#define WAITER_RETURNS_MAX 32

/* How many threads are waited for at once; others that are in the way are met in a later stop. */
#define WAITER_MAX 16

/* A thread that is waited for. */
struct waiter_item {
	/* open where the return is known and the kernel allows a watch */
	struct hw_breakpoint breakpoint;
	bool fresh;          /* opened after the stop, so that the return may have come before */
	bool seen;           /* found in the way by the last stop, too */
	bool left;           /* it may have left the function */
	bool returned;       /* and was seen to leave by returning */
	uint64_t last_count; /* how often it had run when it was seen asleep; else NOT_ASLEEP */
	int64_t found_since; /* CLOCK_MONOTONIC: when it was first found there */
};

/* A thread that has returned from a busy function: the stack pointer that it had at its entry. */
struct waiter_return {
	pid_t tid;
	taddr sp;
	bool guessed; /* its return can't be watched: guessed, since it was there for long */
};

/* Lives as long as attempts are made, since a watch is exact only if it is older than the stop. */
struct waiter {
	const struct proc *proc;
	VEC(struct waiter_item) items;
	int64_t patience; /* how long no attempt is made without news, in nanoseconds; 0 at first */
	VEC(struct waiter_return) returns;
	bool held; /* callers are held meanwhile: each attempt is to come at once */
	/*
	 * CLOCK_MONOTONIC: when a thread returned while callers are held, so that it may be held;
	 * 0: none
	 */
	int64_t held_since;
};

/* The stop that failed. Times are CLOCK_MONOTONIC in nanoseconds. */
struct waiter_stop {
	const struct safety_finding *findings; /* of different threads */
	size_t n;
	int64_t checked; /* when the threads had been looked at, before the first one went on */
	int64_t length;  /* how long it was */
};

/*
 * Waits until all these threads may have left, or until the deadline or ^C. Stops are spread so
 * that the target stands still for a tenth of the time at most. The threads must have been let go.
 * A finding without a thread (inactive.h) is waited for by time alone. True if all have left by
 * returning, so that no function can be on an inactive stack instead.
 */
bool waiter_wait(struct waiter *waiter, const struct waiter_stop *stop, int64_t deadline);
/*
 * True if all threads that were found in the way have returned before, and are back: their calls
 * end, and begin again before all the others have ended. Where returns can't be watched (a virtual
 * machine without debug registers, or a debugger has them all), a thread that is found in the same
 * call for long may have done so. *ret_guessed: that is so for at least one of them.
 */
bool waiter_are_back(struct waiter *waiter, const struct waiter_stop *stop, bool *ret_guessed);
/* Ends all watches. */
void waiter_release(struct waiter *waiter);

#endif
