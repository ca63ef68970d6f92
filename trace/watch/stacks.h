/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stacks.h - the call chains of threads that run on, from what the kernel has copied of them
 *
 * A sample of perf holds the registers and a copy of the top of the stack. Frames are followed by
 * call frame information within that copy, so that a chain is never put together from two moments.
 */
#ifndef USPL_TRACE_WATCH_STACKS_H
#define USPL_TRACE_WATCH_STACKS_H

#include "perf/perf.h"
#include "trace/engine/session.h"
#include "trace/watch/symbols.h"
#include "unwind/unwind.h"

struct stacks_thread {
	pid_t tid;
	const struct symbol *label;
};

struct stacks {
	struct proc *proc;
	struct symbols *symbols;
	struct unwinder *unwinder;
	struct trace_session
		session; /* functions may be traced meanwhile: thunks among the frames */
	int64_t refreshed_ns;
	uint64_t code_sum;                 /* which code was mapped then; 0: not asked yet */
	size_t copied;                     /* how much of a stack each sample has */
	VEC(const struct symbol *) chain;  /* of the last stacks_follow, innermost first */
	VEC(struct unwind_frame) frames;   /* the same as addresses: pc is 0 where it isn't known */
	taddr end_sp;                      /* behind the last of them nothing was followed */
	VEC(struct stacks_thread) threads; /* that were asked for */
	uint64_t cut, lost; /* chains whose beginning isn't known, see stacks_follow */
	const struct symbol *cut_mark, *lost_mark, *kernel_mark;
	bool in_kernel; /* the last chain ends there */
	bool oom;
};

/* copied: what sample_stack_user asks for. proc must outlive it; stacks_close must follow. */
int stacks_open(struct stacks *stacks, struct proc *proc, size_t copied,
		struct uspl_err *err) uspl_must_check;
void stacks_close(struct stacks *stacks);
/*
 * Finds the chain of a sample. In the kernel, "[kernel]" is its innermost part. If the chain's
 * beginning isn't known, "[cut]" takes its place where the stack is deeper than the copy, else
 * "[lost]" (code without call frame information).
 */
int stacks_follow(struct stacks *stacks, const struct perf_note *note,
		  struct uspl_err *err) uspl_must_check;
/* The same for a thread that sleeps; the caller sees to it that it has not run meanwhile. */
int stacks_follow_blocked(struct stacks *stacks, const struct some_regs *regs,
			  struct uspl_err *err) uspl_must_check;
/* The name of a thread, as the root of its chains: "server-4711". NULL when out of memory. */
const struct symbol *stacks_thread(struct stacks *stacks, pid_t tid);
/*
 * Of the last chain: the innermost function that isn't in the library whose code is innermost (the
 * C library's wrapper of a system call, and what it is called by in there); NULL if there is none.
 */
const struct symbol *stacks_caller(const struct stacks *stacks);
/*
 * The function that the caller has called, by which the library was entered: nanosleep, not what
 * the library does it by. The innermost function if there is no caller.
 */
const struct symbol *stacks_called(const struct stacks *stacks);
/* What is asked of perf so that stacks_follow can work: adds to a kind. */
void stacks_ask(struct perf_event_attr *kind, size_t copied);
/* Says how many chains lack their beginning, as lines that begin with "# ". */
void stacks_add_losses(const struct stacks *stacks, struct buf *out);

#endif
