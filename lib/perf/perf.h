/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perf.h - what the kernel tells of all threads of a process, without stopping any
 *
 *     perf_open      an event of each kind for each thread on each processor; new threads inherit
 *                    (children do, too, before Linux 5.13: what is noted of them is passed over)
 *     perf_enable    from now on there are notes
 *     perf_read      what has been noted since
 *     perf_close
 *
 * Each processor has one ring, in which the notes of all kinds lie in the order in which they were
 * made; those of different processors must be ordered by their time (perf_order.h) if that matters.
 * Nothing of it is in the target, and all is gone when the tool ends.
 */
#ifndef USPL_PERF_PERF_H
#define USPL_PERF_PERF_H

#include "arch/regs.h"
#include "perf/perf_ring.h"
#include "proc/proc.h"
#include "proc/task.h"

/* A kind of event. */
struct perf_kind {
	struct perf_event_attr attr;
	/*
	 * One for each processor, whichever thread runs there, instead of one for each thread on
	 * each: for what costs too much if it is switched with the threads, and for what others do
	 * to the process. Notes of all processes come; take those whose pid is right. Needs
	 * CAP_PERFMON.
	 */
	bool everybody;
};

/* An event as it was opened for one thread on one processor. */
struct perf_event {
	uint64_t id;
	uint32_t kind;
	int fd;
	pid_t tid; /* -1: all processes */
};

typedef VEC(struct perf_event) perf_event_vec;
struct perf_source;

struct perf {
	pid_t pid;                   /* of the process */
	VEC(struct perf_ring) rings; /* by processor, as leaders */
	VEC(int) leaders;            /* to wait for: readable when a ring is half full */
	perf_event_vec events;       /* by id */
	struct perf_source *sources; /* whose event tells of a thread: perf_note.c */
	size_t n_sources, cap_sources;
	struct perf_kind *kinds;
	size_t n_kinds;
	uint64_t lost; /* notes for which there was no room, as far as they have been read */
};

/* A note, taken apart. Pointers are good for the time of the visit. */
struct perf_note {
	uint32_t type; /* PERF_RECORD_SAMPLE, PERF_RECORD_SWITCH, ...; never PERF_RECORD_LOST */
	uint16_t misc; /* PERF_RECORD_MISC_* */
	uint32_t kind; /* place in `kinds` */
	pid_t pid, tid;
	uint32_t cpu;
	uint64_t time; /* CLOCK_MONOTONIC, ns */
	uint64_t addr; /* of a sample whose kind asks for it: of a page fault, where */
	/* Of a sample whose kind asks for them. */
	bool has_regs; /* false: the thread has no registers of the program's any more */
	struct some_regs regs;
	const uint8_t *stack; /* a copy of the stack from the stack pointer on */
	size_t stack_len;
	const uint8_t *raw; /* fields of a tracepoint */
	size_t raw_len;
};

/*
 * kinds say what is noted. perf_open itself sets size, clock, the sort of identification
 * (PERF_SAMPLE_IDENTIFIER | TID | TIME | CPU besides what is asked for), inheritance and
 * `disabled`. Of sample_type they may use PERF_SAMPLE_ADDR, RAW, REGS_USER and STACK_USER. Room:
 * bytes wanted for each ring; less is fine where the kernel doesn't allow more. USPL_E_PERMISSION
 * with a hint if the kernel doesn't let us. perf_close must follow in any case.
 */
int perf_open(struct perf *perf, const struct proc *proc, const struct perf_kind *kinds,
	      size_t n_kinds, size_t room, struct uspl_err *err) uspl_must_check;
/* Zero-initialised ones are fine. */
void perf_close(struct perf *perf);
/*
 * Whether the kernel lets us have events of that kind of the process. USPL_E_PERMISSION where it
 * doesn't.
 */
int perf_permits(const struct proc *proc, const struct perf_kind *kind,
		 struct uspl_err *err) uspl_must_check;
/* The notes begin. */
int perf_enable(struct perf *perf, struct uspl_err *err) uspl_must_check;

/*
 * Calls visit for each new note, one ring after the other; stops at its failure, and returns it.
 * Notes whose length doesn't fit what they say are passed over.
 */
int perf_read(struct perf *perf, int (*visit)(void *ctx, const struct perf_note *note), void *ctx);

/*
 * Brings `lost` up to now. The kernel notes a loss in front of the next note that finds room, so
 * that of the last ones would never be known; an event says it when it is asked, since Linux 6.0.
 */
void perf_count_lost(struct perf *perf);

/*
 * The attributes of an event for each passing of a tracepoint ("raw_syscalls", "sys_enter"), with
 * its fields. It takes tracefs (perf/tracefs.h), which only root reads as a rule.
 */
int perf_tracepoint(const char *system, const char *name, struct perf_event_attr *ret,
		    struct uspl_err *err) uspl_must_check;
/* The same for each system call's entry and its return: raw_syscalls:sys_enter and sys_exit. */
int perf_syscalls(struct perf_event_attr *ret_enter, struct perf_event_attr *ret_exit,
		  struct uspl_err *err) uspl_must_check;

/* What the fields of each tracepoint begin with (struct trace_entry of the kernel). */
struct perf_common {
	uint16_t type;
	uint8_t flags, preempted;
	int32_t kernel_tid; /* of the thread that ran there, in the first pid namespace */
};

struct perf_sys_enter {
	struct perf_common common;
	int64_t nr;
	uint64_t args[6];
};

struct perf_sys_exit {
	struct perf_common common;
	int64_t nr, result;
};

#endif
