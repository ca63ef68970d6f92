/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * blocked.h - where the threads of a process sleep, found out without waking them
 *
 *     blocked_open       once for a process: what its kernel can tell
 *     blocked_look       each thread: it runs, or it sleeps, and then where
 *     (the caller checks the stacks of those that sleep, in the process's memory as it is)
 *     (the caller stops those that run, and marks them as accounted for)
 *     blocked_unchanged  has none of the sleepers run since the look? Then all that was found is
 *                       true at this instant
 *     blocked_release
 *
 * /proc/PID/task/TID/syscall tells a blocked thread's place: its stack pointer, program counter,
 * and the arguments of its system call. Read between two equal run counts (runcount.h) it is true
 * of the whole time between them. So is everything that only the thread itself changes, such as its
 * stack. That is why nothing is copied: a stack is read where it lies, at leisure, and what was
 * concluded from it holds if the count is still the same afterwards.
 *
 * blocked_unchanged asks for one figure, the sum of all counts, where the kernel tells it.
 */
#ifndef USPL_THREAD_BLOCKED_H
#define USPL_THREAD_BLOCKED_H

#include "arch/regs.h"
#include "thread/runcount.h"
#include "thread/thread.h"

enum blocked_class {
	/* Or did during the look, or waits in vfork: to be stopped, or looked at again. */
	BLOCKED_RUNS,
	BLOCKED_SLEEPS, /* blocked; regs is what is known of its registers */
	/*
	 * Never runs the program's code (again): a zombie, a thread that has come to its exit, a
	 * worker that the kernel has put among the threads (io_uring, vhost).
	 */
	BLOCKED_NO_CODE,
};

struct blocked_thread {
	pid_t tid;
	enum blocked_class class;
	struct some_regs regs;
	uint64_t runs; /* its run count at the look */
	/* It has been seen to have run between two looks, so it is likely to run soon. */
	bool recently_ran;
	bool ran; /* since it was looked at, by blocked_find_ran */
	struct runcount count;
	/*
	 * The caller's, false again after a look has found the thread at another place: that its
	 * stack was checked and found free.
	 */
	bool checked;
	/*
	 * The caller's: it stands still in a stop of the tool's, or what it does from now on
	 * doesn't matter. It isn't looked at as long as that is set.
	 */
	bool accounted;
};

typedef VEC(struct blocked_thread) blocked_thread_vec;

struct blocked {
	const struct proc *proc;
	blocked_thread_vec threads; /* by id */
	struct runsum sum;
	/*
	 * What the sum holds besides the counts of the living (those of threads that have died): at
	 * least this much, and exactly this much if dead_known.
	 */
	uint64_t dead;
	bool dead_known;
	bool stale; /* threads have to be listed again */
	/*
	 * blocked_add_up's, until the next look: what the sleepers have in the sum, and which other
	 * threads there are.
	 */
	bool added_up;
	uint64_t blocked_runs;
	VEC(size_t) others; /* places in threads */
	/*
	 * The last id that the kernel had given out at a moment when there were no threads but
	 * those in `threads`; 0: there is no such moment.
	 */
	long last_id;
	int task_fd;    /* /proc/PID/task, whose links count the threads */
	int loadavg_fd; /* /proc/loadavg, which has that id; -1: there is none */
};

/*
 * Fails, with the reason, if the kernel doesn't tell what is needed (no CONFIG_SCHED_INFO, no
 * /proc/PID/task/TID/syscall): then sleepers can't be examined asleep. On failure there is nothing
 * to release.
 */
int blocked_open(struct blocked *blocked, const struct proc *proc,
		 struct uspl_err *err) uspl_must_check;
/* Closes and frees everything. */
void blocked_release(struct blocked *blocked);

/*
 * Looks at every thread that is new, or has run since it was last looked at, or has no class yet;
 * threads that are gone are dropped. A thread that is accounted for is left as it is. Pointers to
 * threads are good until the next look.
 */
int blocked_look(struct blocked *blocked, struct uspl_err *err) uspl_must_check;
/*
 * The same in a hurry, while some are accounted for: the threads are listed again only if their
 * number has changed or one has gone, and nothing is prepared for a later blocked_unchanged. About
 * 1 us a thread, and what a look costs for those that have run.
 */
int blocked_look_again(struct blocked *blocked, struct uspl_err *err) uspl_must_check;

/*
 * True if there is no thread but those of the last look, and each of them is either accounted for,
 * or has no code to run, or sleeps and has not run since. Doubt is "no". A thread may begin to run
 * at the very moment; the caller must have taken care of what it can do then before it asks.
 */
bool blocked_unchanged(struct blocked *blocked);
/*
 * To be called while there is time, before a blocked_unchanged that is to be quick: what doesn't
 * depend on the moment is done now. Good until the next look.
 */
void blocked_add_up(struct blocked *blocked);
/* True if the counts of all threads can be asked for at once. */
bool blocked_has_sum(const struct blocked *blocked);
/*
 * Finds out which of the sleepers have run, by the counts of those that recently ran and the sum:
 * `ran` of each is true of some instant of this call. False, and nothing is known, if another one
 * has run, too, there are other threads, or there is no sum. 0.7 us for each that recently ran, and
 * the sum (runcount.h).
 */
bool blocked_find_ran(struct blocked *blocked);
/*
 * Looks again at threads that run, and at those that have run by blocked_find_ran; not at those
 * that are accounted for.
 */
void blocked_look_at_ran(struct blocked *blocked);
/* True if that thread sleeps, and has not run since it was looked at. */
bool blocked_stays(const struct blocked *blocked, const struct blocked_thread *thread);
/* True if at some instant of this call there is no thread but those of the last look. */
bool blocked_is_complete(struct blocked *blocked);

/* The thread of that id as of the last look, or NULL. */
struct blocked_thread *blocked_find(struct blocked *blocked, pid_t tid);

#endif
