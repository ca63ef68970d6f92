/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * switches.h - when each thread went off the processors and came back, and why
 *
 * The kernel notes each switch (PERF_RECORD_SWITCH), for every tool that may observe the process.
 * What else is known depends on what the kernel permits, and `known` says so: where in the program
 * the thread was, its system call, and when it was woken.
 */
#ifndef USPL_TRACE_WATCH_SWITCHES_H
#define USPL_TRACE_WATCH_SWITCHES_H

#include "perf/perf_order.h"
#include "trace/watch/stacks.h"

/* A time that a thread was off the processors. */
struct off_time {
	pid_t tid;
	uint64_t from, to; /* CLOCK_MONOTONIC, ns; to is 0: it has not come back */
	uint64_t woken;    /* 0: it was preempted, or that is not known */
	bool preempted;    /* it would have gone on */
	long nr;           /* the system call that it waits in; -1: in none, or not known */
	const struct symbol *caller; /* what made the call, or was preempted; NULL: not known */
	uint32_t cpu;                /* on which it came back */
};

/* What is known of a thread while the notes are read. */
struct switches_thread {
	pid_t tid;
	pid_t kernel_tid; /* in the first pid namespace; 0: not learnt yet */
	bool is_off;
	long nr; /* the system call that it is in, -1 */
	/*
	 * Where it was at its last switch: the function, and what made the call if it was in one.
	 */
	const struct symbol *inner, *caller;
	struct off_time off;
};

struct switches {
	struct perf perf;
	struct perf_order order;
	struct stacks stacks;
	VEC(struct switches_thread) threads;
	struct {
		bool places;   /* where in the program */
		bool syscalls; /* which system call */
		bool wakeups;  /* when it was woken */
	} known;
	/* What is told to the reader. */
	int (*tell)(void *ctx, const struct off_time *off);
	void *ctx;
	struct uspl_err *err;
};

/* Begins to observe. switches_close must follow in any case. */
int switches_open(struct switches *switches, struct proc *proc,
		  struct uspl_err *err) uspl_must_check;
void switches_close(struct switches *switches);
/*
 * Calls tell for each time that has ended since, by the moment of its end; with `all`, for those
 * that have not ended, too. Stops at a failure of tell, and returns it.
 */
int switches_read(struct switches *switches, bool all,
		  int (*tell)(void *ctx, const struct off_time *off), void *ctx,
		  struct uspl_err *err) uspl_must_check;
/* "in clock_nanosleep <- napper", "in burn", "?": where the thread was. */
void switches_add_place(const struct off_time *off, struct buf *out);
/* Says what isn't known and what was lost, as lines that begin with "# ". */
void switches_add_limits(const struct switches *switches, struct buf *out);

#endif
