/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * runcount.h - how often threads have been put on a processor
 *
 * The kernel counts that for each thread (CONFIG_SCHED_INFO; the third figure of
 * /proc/PID/task/TID/schedstat). A thread whose count is the same at two readings hasn't executed
 * anything in between if it slept at any moment between them.
 */
#ifndef USPL_THREAD_RUNCOUNT_H
#define USPL_THREAD_RUNCOUNT_H

#include "proc/proc.h"
#include "thread/taskstats.h"

/* Where a thread's count is read from. */
struct runcount {
	pid_t tid;
	int fd; /* its schedstat, kept open as long as descriptors are plenty; else -1 */
};

/* What runcount_read says of a thread that is gone, has never run, or isn't counted. */
#define RUNCOUNT_NONE 0

/* True if the kernel counts at all. */
bool runcount_is_kept(void);
/* Prepares for reading; makes no failure. To be closed. */
void runcount_open(struct runcount *count, const struct proc *proc, pid_t tid);
void runcount_close(struct runcount *count);
/* The thread's count, or RUNCOUNT_NONE. About 0.6 us, or 4 us without a descriptor. */
uint64_t runcount_read(const struct runcount *count, const struct proc *proc);

/*
 * All threads of a process at once, by taskstats: about 3 us, and 20 ns for each thread. What the
 * kernel gives is the sum over all living threads and those that have died.
 */
struct runsum {
	struct taskstats_link link;
	pid_t pid;
};

/*
 * USPL_E_UNSUPPORTED, or another failure, with the reason, if the sum isn't available here: no
 * CAP_NET_ADMIN, /proc is of another pid namespace, or the kernel's figures contradict each other.
 * Each count has to be read by itself then. On failure there is nothing to close.
 */
int runcount_sum_open(struct runsum *sum, const struct proc *proc,
		      struct uspl_err *err) uspl_must_check;
/* Closes it; a sum that isn't open (link.fd -1) is fine. */
void runcount_sum_close(struct runsum *sum);
/* False if it isn't open, or the kernel doesn't answer. */
bool runcount_sum_read(struct runsum *sum, uint64_t *ret);

#endif
