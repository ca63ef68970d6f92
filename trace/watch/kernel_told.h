/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_told.h - what the kernel has told of a process whose calls are read in the end only
 *
 * The kernel's rings hold some moments, so it is asked again and again. As of calls, what came last
 * is kept: when there are too many events the older half makes room.
 */
#ifndef USPL_TRACE_WATCH_KERNEL_TOLD_H
#define USPL_TRACE_WATCH_KERNEL_TOLD_H

#include "trace/watch/kernel_watch.h"

/* How often it wants to be asked. */
#define KERNEL_TOLD_MS 10

/* Zero-initialise it; the caller opens the watch, and begins it. */
struct kernel_told {
	struct kernel_watch watch;
	struct kernel_log log; /* so far */
	uint64_t dropped;      /* of that, to make room */
	struct uspl_err err;   /* of a reading, after which there is no other */
};

/* Zero-initialised ones are fine. */
void kernel_told_release(struct kernel_told *told);
/* Reads what there is by now. What goes wrong is said by kernel_told_take. */
void kernel_told_ask(struct kernel_told *told);
/* All that it has told, for the reader of the calls: a kernel_source's read. */
int kernel_told_take(void *what, bool last, struct kernel_log *log,
		     struct uspl_err *err) uspl_must_check;

#endif
