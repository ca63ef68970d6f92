/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unwind.h - the frames of a thread that doesn't run, from call frame information
 *
 * .eh_frame of every module (from its file, or from memory for the vdso) says for each instruction
 * where the caller's registers are. An unwinder prepares that once for a process; rules are cached
 * by address, so that a frame costs a table look-up when its code has been seen before.
 *
 * An unwind either reaches a frame that CFI marks as the outermost one (undefined return address,
 * as in _start and clone) or where a stack of makecontext begins, and then the list of frames is
 * complete and proven; or it is lost, and then says up to which stack address it is good. A caller
 * must not take a lost unwind for a complete one.
 */
#ifndef USPL_UNWIND_UNWIND_H
#define USPL_UNWIND_UNWIND_H

#include "arch/regs.h"
#include "proc/module.h"

struct unwinder;

struct unwind_frame {
	taddr pc;
	taddr sp;     /* the stack pointer there: of a caller, when the call has returned */
	bool is_call; /* pc is a return address: what matters is the instruction before it */
};

enum unwind_end {
	UNWIND_COMPLETE, /* the outermost frame was reached */
	UNWIND_LOST,     /* no CFI, or it leads nowhere */
	UNWIND_ENOUGH,   /* the visitor wanted no more */
};

/* modules must outlive the unwinder. */
int unwinder_new(const struct proc *proc, const module_vec *modules, struct unwinder **ret,
		 struct uspl_err *err) uspl_must_check;
/* Code that belongs to no module, and where in the process its .eh_frame lies. */
struct unwind_code {
	taddr start, end;
	taddr eh_frame;
	uint64_t eh_frame_len;
};
/* Makes the unwinder know it. The call frame information is read at once. */
int unwinder_add_code(struct unwinder *unwinder, const struct unwind_code *code,
		      struct uspl_err *err) uspl_must_check;
/*
 * Pieces of code without call frame information, each `unit` bytes long, all from one mould: they
 * change no register that a function has to keep. `depth` tells for each place in them by how many
 * bytes the stack pointer is below its value at the beginning, where it points to a return address
 * (-1: that isn't known there).
 */
struct unwind_mould {
	taddr start, end;
	size_t unit;
	int (*depth)(size_t offset);
};
/* Makes the unwinder know them. */
int unwinder_add_mould(struct unwinder *unwinder, const struct unwind_mould *mould,
		       struct uspl_err *err) uspl_must_check;
/*
 * The tracer's code in one module. It keeps return addresses in the shadow of the stack
 * (include/uspl/trace_abi.h), so that words of the stack don't tell all.
 */
struct unwind_tracer {
	taddr thunks, thunks_end;
	taddr code, code_end; /* what has no call frame information: runtime, bodies */
	taddr eh_frame;       /* of the thunks; 0: they keep nothing in the shadow */
	uint64_t eh_frame_len;
	uint64_t shadow; /* bits in which its shadow's addresses differ from USPL_TRACE_SHADOW */
};
/* Makes the unwinder know it. */
int unwinder_add_tracer(struct unwinder *unwinder, const struct unwind_tracer *tracer,
			struct uspl_err *err) uspl_must_check;
/*
 * A copy of the tracer's runtime. A thread that comes out of it is in a thunk, and all thunks have
 * the same call frame information: the runtime that returns a traced call has come from the
 * instruction at `back`.
 */
struct unwind_runtime {
	taddr start, back;
	bool asked, known; /* whether it is this tool's own runtime; see unwind_runtime.c */
};
/* Makes the unwinder know it. */
int unwinder_add_runtime(struct unwinder *unwinder, taddr start, taddr back,
			 struct uspl_err *err) uspl_must_check;
void unwinder_free(struct unwinder *unwinder);
DEFINE_AUTO_FREE(unwinder, struct unwinder, unwinder_free)
#define auto_unwinder __attribute__((cleanup(cleanup_unwinder_)))

/*
 * Calls visit for each frame, innermost first, until it returns false. regs must know at least the
 * stack pointer and the program counter. *ret_sp is the stack address from which on nothing has
 * been accounted for; it matters after UNWIND_LOST. If the thread's stack changes meanwhile, the
 * result means nothing.
 */
enum unwind_end unwind(struct unwinder *unwinder, const struct some_regs *regs,
		       bool (*visit)(void *ctx, const struct unwind_frame *frame), void *ctx,
		       taddr *ret_sp);

/*
 * From now on the unwinder reads the stack from start on not from the process but from bytes, a
 * copy of its first len bytes that stays the caller's; behind the copy the unwind is lost. For a
 * thread that goes on after its stack was copied. NULL ends it.
 */
void unwinder_lend_stack(struct unwinder *unwinder, taddr start, const uint8_t *bytes, size_t len);

/* True if something was asked for that lies behind the copy, since it was lent. */
bool unwinder_ran_out(const struct unwinder *unwinder);
/*
 * True if only what the copy has was asked for since it was lent: nothing that lies behind it, nor
 * memory elsewhere, which may have changed since the copy was made.
 */
bool unwinder_kept_to_copy(const struct unwinder *unwinder);

/*
 * True if pc is where a signal handler returns to (by CFI), so that the frame behind it has all
 * registers of what the signal interrupted.
 */
bool unwinder_leaves_signal(struct unwinder *unwinder, taddr pc);
/*
 * The return address that the word at stack address `at` stands for, if the word is one of a thunk
 * that keeps another one in the shadow; else 0. That one may in turn be a thunk's.
 */
taddr unwinder_shadowed(const struct unwinder *unwinder, taddr at, uint64_t word);
/*
 * Where that return address is kept: two words of a shadow, of which the first is the return
 * address and the other not 0 or another one's; both are 0 as long as no call has kept anything
 * there. 0 if the word is none of such a thunk.
 */
taddr unwinder_kept_at(const struct unwinder *unwinder, taddr at, uint64_t word);
/*
 * True for a return address in the tracer's code that isn't such a thunk's: it is on a stack only
 * as long as the thread is in the tracer's runtime, which calls nothing of the program's.
 */
bool unwinder_is_runtime(const struct unwinder *unwinder, taddr pc);
/*
 * True for a place in the tracer's runtime at which a thread is about to go to where the thunk has
 * led: it counts as there, though nothing on its stack says so. An unwind is lost there.
 */
bool unwinder_has_chosen(struct unwinder *unwinder, taddr pc);
/* False if there are no such thunks; else all their words lie in [*ret_start, *ret_end). */
bool unwinder_thunks(const struct unwinder *unwinder, taddr *ret_start, taddr *ret_end);
/*
 * Where an unwind is lost at pc because that is the tracer's own code: the return addresses for the
 * words from sp on may be in the shadow only. Appends what the shadow has of them, stale ones
 * included, at most max; returns how many. 0 for other code.
 */
size_t unwinder_shadow_near(const struct unwinder *unwinder, taddr pc, taddr sp, taddr *ret,
			    size_t max);

#endif
