// SPDX-License-Identifier: GPL-3.0-or-later
// unwind_runtime.c - out of the tracer's runtime, which has no call frame information
/*
 * Its code is this tool's own, so the tool knows where its return address is at each instruction
 * (arch.trace_depths). A process may have a copy from another version of the tools: it is compared,
 * once, when a thread is met in it.
 *
 * The thunk calls the runtime that begins a traced call, and its return address is on the stack.
 * The thunk jumps to the runtime that ends one: in place of the return address there is what the
 * thunk has pushed, and the address is in the shadow, where the thunk's own information finds it.
 * So such a thread is taken back to the thunk's jump. Any thunk's will do, they are all alike.
 */

#include <string.h>

#include "arch/arch.h"
#include "unwind/unwind_priv.h"

int unwinder_add_runtime(struct unwinder *unwinder, taddr start, taddr back, struct uspl_err *err)
{
	struct unwind_runtime *runtime = vec_push(&unwinder->runtimes);

	if (!runtime)
		return uspl_fail_nomem(err);
	*runtime = (struct unwind_runtime){ .start = start, .back = back };
	return 0;
}

/* Its depths, NULL if they can't be told. */
static const uint8_t *depths_of(struct unwinder *unwinder, struct unwind_runtime *runtime,
				const uint8_t *code, size_t len)
{
	if (!runtime->asked) {
		auto_free uint8_t *have = malloc(len);

		runtime->asked = true;
		runtime->known = have &&
				 proc_read_some(unwinder->proc, runtime->start, have, len) == len &&
				 !memcmp(have, code, len);
	}
	if (!runtime->known)
		return NULL;
	if (!unwinder->depths) {
		unwinder->depths = malloc(len);
		if (unwinder->depths && !arch_native()->trace_depths(unwinder->depths))
			memset(unwinder->depths, 0, len);
	}
	return unwinder->depths;
}

/* What arch.trace_depths says of pc; 0 if it isn't in a known runtime. */
static uint8_t depth_at(struct unwinder *unwinder, taddr pc, taddr *ret_back)
{
	size_t len;
	const uint8_t *code = arch_native()->trace_runtime(&len), *depths;
	struct unwind_runtime *runtime;

	vec_for_each (&unwinder->runtimes, runtime) {
		if (pc - runtime->start >= len)
			continue;
		depths = depths_of(unwinder, runtime, code, len);
		if (!depths)
			return 0;
		*ret_back = runtime->back;
		return depths[pc - runtime->start];
	}
	return 0;
}

bool unwinder_has_chosen(struct unwinder *unwinder, taddr pc)
{
	taddr back;

	return depth_at(unwinder, pc, &back) == TRACE_DEPTH_CHOSEN;
}

bool unwinder_leave_runtime(struct unwinder *unwinder, struct unwind_frame *frame,
			    struct some_regs *regs)
{
	taddr sp = regs->value[DWARF_SP], jump;
	uint8_t depth = depth_at(unwinder, frame->pc, &jump);
	size_t words = depth & ~TRACE_DEPTH_BACK;
	bool back = depth & TRACE_DEPTH_BACK;

	if (!depth || depth == TRACE_DEPTH_CHOSEN)
		return false;
	if (back) {
		frame->pc = jump;
		frame->sp = sp + 8 * (words - 1);
	} else {
		if (!unwinder_read_word(unwinder, sp + 8 * (words - 1), &frame->pc))
			return false;
		frame->sp = sp + 8 * words;
	}
	frame->is_call = !back;
	regs->value[DWARF_PC] = frame->pc;
	regs->value[DWARF_SP] = frame->sp;
	return true;
}
