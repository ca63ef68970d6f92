// SPDX-License-Identifier: GPL-3.0-or-later
// stack_lines.c - the deepest stack of a thread, and how it is printed

#include "trace/watch/stack_lines.h"

#include <inttypes.h>

#include "base/json.h"

/* A stack without a limit has no share that is used. */
double stack_percent(const struct stack *stack)
{
	if (stack->unlimited)
		return 0;
	return 100.0 * (double)(stack->top - stack->touched) / (double)(stack->top - stack->bottom);
}

void stack_add_text(struct buf *out, const struct stack *stack)
{
	buf_addf(out,
		 "# thread %d (%s): %" PRIu64 " bytes deep, %" PRIu64 " touched, of %" PRIu64
		 " KB (%.2f %%)\n"
		 "#        Depth    Size   Location    (%zu entries)\n"
		 "#        -----    ----   --------\n",
		 stack->tid, stack->thread->name, stack->top - stack->sp,
		 stack->top - stack->touched, (stack->top - stack->bottom) / 1024,
		 stack_percent(stack), stack->frames.n);
	for (size_t i = 0; i < stack->frames.n; i++) {
		const struct frame *frame = &stack->frames.items[i];
		taddr next = i + 1 < stack->frames.n ? frame[1].sp : stack->top;

		buf_addf(out, "%4zu) %9" PRIu64 " %7" PRIu64 "   %s", i, stack->top - frame->sp,
			 next - frame->sp, frame->symbol->name);
		if (frame->known)
			buf_addf(out, "+0x%" PRIx64 "/0x%" PRIx64, frame->offset, frame->size);
		buf_addstr(out, "\n");
	}
}

void stack_add_json(struct buf *out, const struct stack *stack)
{
	auto_json struct json json = { 0 };

	json_open(&json, NULL, '{');
	json_number(&json, "tid", stack->tid);
	json_string(&json, "thread", stack->thread->name);
	json_number(&json, "depth", (int64_t)(stack->top - stack->sp));
	json_number(&json, "touched", (int64_t)(stack->top - stack->touched));
	json_number(&json, "limit", (int64_t)(stack->top - stack->bottom));
	json_open(&json, "frames", '[');
	for (size_t i = 0; i < stack->frames.n; i++) {
		const struct frame *frame = &stack->frames.items[i];
		taddr next = i + 1 < stack->frames.n ? frame[1].sp : stack->top;

		json_open(&json, NULL, '{');
		json_string(&json, "name", frame->symbol->name);
		json_string(&json, "module", frame->symbol->module);
		if (frame->known)
			json_number(&json, "offset", (int64_t)frame->offset);
		json_number(&json, "depth", (int64_t)(stack->top - frame->sp));
		json_number(&json, "size", (int64_t)(next - frame->sp));
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_close(&json, '}');
	buf_addf(out, "%s\n", json_text(&json));
}
