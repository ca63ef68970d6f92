/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unwind_priv.h - what the files of unwind.h share */
#ifndef USPL_PROC_UNWIND_PRIV_H
#define USPL_PROC_UNWIND_PRIV_H

#include "proc/cfi.h"
#include "proc/unwind.h"
#include "proc/unwind_rule.h"

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
	taddr low, high; /* all cfis lie between these: most words of a stack don't */
	struct unwind_rule *cache[UNWIND_CACHE_SLOTS];
	struct unwind_window window;
	/* What is read instead of the process's memory: unwinder_lend_stack. */
	taddr lent_start;
	const uint8_t *lent;
	size_t lent_len;
	bool ran_out, strayed;
};

#endif
