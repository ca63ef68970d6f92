/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hw_breakpoint.h - the moment at which a thread comes to a place in its code, seen without
 * stopping it
 *
 * A hardware breakpoint that the kernel counts for the tool (perf_event_open,
 * PERF_TYPE_BREAKPOINT): the thread runs through it and notices nothing, no byte of its code
 * changes, it isn't traced, and when the tool ends the breakpoint is gone. A thread has only a few
 * of them (4 on x86-64).
 */
#ifndef USPL_THREAD_HW_BREAKPOINT_H
#define USPL_THREAD_HW_BREAKPOINT_H

#include "perf/perf_ring.h"

struct hw_breakpoint {
	pid_t tid;
	/* A pass counts only with this stack pointer: a recursive function's inner calls don't. */
	taddr pc, sp;
	int fd; /* readable when there is news; -1: not open */
	struct perf_ring ring;
};

/*
 * Begins to watch. USPL_E_PERMISSION (kernel.perf_event_paranoid) or USPL_E_SYSTEM if the kernel
 * doesn't allow it or the thread's breakpoints are taken, USPL_E_UNSUPPORTED if the machine has
 * none that work; ret is then a watch that isn't open.
 */
int hw_breakpoint_open(struct hw_breakpoint *ret, pid_t tid, taddr pc, taddr sp,
		       struct uspl_err *err) uspl_must_check;
/* Ends the watch. Closing one that isn't open does nothing. */
void hw_breakpoint_close(struct hw_breakpoint *breakpoint);
/*
 * True if the thread has passed since the time (CLOCK_MONOTONIC, nanoseconds), or has ended. Takes
 * note of all passes so far: a later call tells of later ones.
 */
bool hw_breakpoint_passed(struct hw_breakpoint *breakpoint, int64_t since_ns);

#endif
