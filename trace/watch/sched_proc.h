/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sched_proc.h - what /proc tells of switches, where perf events are refused
 *
 * The scheduler counts each thread's switches and the time that it waited for a processor; the
 * differences between two readings are exact. Where threads sleep is seen only by looking.
 */
#ifndef USPL_TRACE_WATCH_SCHED_PROC_H
#define USPL_TRACE_WATCH_SCHED_PROC_H

#include "thread/blocked.h"
#include "trace/watch/stacks.h"

struct sched_counts {
	uint64_t blocked, preempted; /* switches */
	uint64_t ran_ns, waited_ns;  /* on a processor, and for one */
};

/* Where a thread was seen asleep: the function by which a library was entered, and its caller. */
struct sched_place {
	const struct symbol *inner, *caller;
	uint64_t looks;
};

struct sched_thread {
	pid_t tid;
	char name[TASK_NAME_LEN];
	struct sched_counts first, last;
	VEC(struct sched_place) places;
};

struct sched_proc {
	struct proc *proc;
	struct stacks stacks;
	struct blocked blocked_threads;
	bool has_blocked;
	uint64_t looks;
	VEC(struct sched_thread) threads; /* also those that have ended, as last seen */
};

/* Begins. sched_proc_close must follow in any case. */
int sched_proc_open(struct sched_proc *sched, struct proc *proc,
		    struct uspl_err *err) uspl_must_check;
void sched_proc_close(struct sched_proc *sched);
/* Looks at all threads. */
int sched_proc_look(struct sched_proc *sched, struct uspl_err *err) uspl_must_check;

#endif
