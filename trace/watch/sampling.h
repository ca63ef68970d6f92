/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sampling.h - looking at running threads many times a second, for tracers of the second sort */
#ifndef USPL_TRACE_WATCH_SAMPLING_H
#define USPL_TRACE_WATCH_SAMPLING_H

#include "trace/output/tracer.h"
#include "trace/watch/stacks.h"

struct sampling {
	/* The tracer's options; 0 becomes the usual value. */
	int freq;     /* times a second */
	int stack_kb; /* how much of a stack is copied */
	/* What was made of them. */
	struct proc *proc;
	struct perf perf;
	struct stacks stacks;
	uint64_t samples;
	bool kernel; /* threads are seen in the kernel, too */
};

/* Begins. sampling_close must follow in any case. */
int sampling_open(struct sampling *sampling, struct watch *watch,
		  struct uspl_err *err) uspl_must_check;
void sampling_close(struct sampling *sampling);
/*
 * Visits each new sample of the process, with its chain in stacks.chain. Stops at a failure of
 * visit, and returns it.
 */
int sampling_read(struct sampling *sampling, int (*visit)(void *ctx, const struct perf_note *note),
		  void *ctx, struct uspl_err *err) uspl_must_check;
/* Says what isn't known or was lost, as lines that begin with "# ". */
void sampling_add_losses(const struct sampling *sampling, struct buf *out);

#endif
