/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unwind_priv.h - what the files of unwind.h share */
#ifndef USPL_UNWIND_UNWIND_PRIV_H
#define USPL_UNWIND_UNWIND_PRIV_H

#include "unwind/cfi.h"
#include "unwind/unwind.h"
#include "unwind/unwind_rule.h"

#define UNWIND_CACHE_SLOTS 4096 /* a power of two; rules by address */
#define UNWIND_STACK_CHUNK (2 * PAGE)

/* A copy of a stretch of the stack, read in large pieces. */
struct unwind_window {
	taddr start;
	size_t len;
	uint8_t bytes[UNWIND_STACK_CHUNK];
};

struct unwinder {
	const struct proc *proc;
	VEC(struct cfi) cfis;
	VEC(struct unwind_tracer) tracers;
	VEC(struct unwind_mould) moulds;
	VEC(struct unwind_runtime) runtimes;
	uint8_t *depths; /* of the runtime, arch.trace_depths; NULL before they are asked for */
	taddr low, high; /* all cfis lie between these: most words of a stack don't */
	struct unwind_rule *cache[UNWIND_CACHE_SLOTS];
	struct unwind_window window;
	/* What is read instead of the process's memory: unwinder_lend_stack. */
	taddr lent_start;
	const uint8_t *lent;
	size_t lent_len;
	bool ran_out, strayed;
};

/*
 * One frame outwards from frame->pc, if that is in a copy of the tracer's runtime, with the stack
 * pointer of regs: frame becomes the caller's, and so do the two registers. False if it isn't, or
 * the place isn't known.
 */
bool unwinder_leave_runtime(struct unwinder *unwinder, struct unwind_frame *frame,
			    struct some_regs *regs);
/* A word of the stack. ctx: the unwinder. */
bool unwinder_read_word(void *ctx, taddr addr, uint64_t *ret);

#endif
