/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_watch.h - what the kernel tells of a process while its calls are recorded
 *
 *     kernel_watch_open     which kinds the kernel permits; nothing is noted yet
 *     kernel_watch_begin    from here on
 *     kernel_watch_read     what is known by now, on the clock of the calls; a kernel_source's read
 *     kernel_watch_close
 *
 * Nothing of it is in the target, and nothing is left if the tool dies: the kernel closes its
 * events.
 */
#ifndef USPL_TRACE_WATCH_KERNEL_WATCH_H
#define USPL_TRACE_WATCH_KERNEL_WATCH_H

#include "base/cleanup.h"
#include "perf/perf_order.h"
#include "trace/engine/clocks.h"
#include "trace/log/kernel_event.h"

#define KERNEL_NOTES 6 /* kinds of notes that the events are made of */

/* What a thread is in, as far as the notes go. */
struct kernel_thread {
	pid_t tid;             /* as we know it */
	pid_t inner;           /* as the process knows it */
	bool in[KERNEL_KINDS]; /* of each kind, whether one has begun and isn't over */
	struct kernel_event events[KERNEL_KINDS]; /* and that one */
};

/* Zero-initialise it. */
struct kernel_watch {
	unsigned kinds; /* 1 << kind, of those that are observed */
	struct buf
		notes; /* what of that which was asked for isn't, in lines that begin with "# " */
	struct proc *proc;
	struct perf perf;
	struct perf_order order;
	unsigned char meaning[KERNEL_NOTES]; /* of the notes, by their kind in perf */
	/* Two moments, between or near which the notes lie that are read. */
	struct trace_clocks from, to;
	VEC(struct kernel_thread) threads; /* by tid */
	/* Of a reading. */
	struct kernel_log *log;
	struct uspl_err *err;
};

/*
 * Prepares to observe these kinds (1 << kind) in all threads that a process has, and those that
 * they make. A kind that the kernel doesn't permit is left out, and `notes` says so; if it permits
 * none, that is a failure. USPL_E_SYSTEM, with a hint, where there are more threads than events can
 * be opened for. kernel_watch_close must follow in any case.
 */
int kernel_watch_open(struct kernel_watch *watch, pid_t pid, unsigned kinds,
		      struct uspl_err *err) uspl_must_check;
void kernel_watch_close(struct kernel_watch *watch);
DEFINE_AUTO_RELEASE(kernel_watch, struct kernel_watch, kernel_watch_close)
#define auto_kernel_watch __attribute__((cleanup(cleanup_kernel_watch_)))
int kernel_watch_begin(struct kernel_watch *watch, struct uspl_err *err) uspl_must_check;
/*
 * Appends what has ended since the last reading; `last`: and what is still open, with the time so
 * far. What had begun before the observation isn't there. `what` is a struct kernel_watch.
 */
int kernel_watch_read(void *what, bool last, struct kernel_log *log,
		      struct uspl_err *err) uspl_must_check;

#endif
