// SPDX-License-Identifier: GPL-3.0-or-later
// chains.c - call chains that listeners have kept, unwound

#include "trace/chains.h"

#include "live/stack.h"

#define FRAMES_MAX 64

/* A chain while it is printed. */
struct chain {
	struct tally *tally;
	const char *indent;
	struct buf *out;
	size_t n;
};

static bool visit(void *ctx, const struct unwind_frame *frame)
{
	struct chain *chain = ctx;

	buf_addstr(chain->out, chain->indent);
	places_add_caller(&chain->tally->places, frame->pc, chain->out);
	buf_addstr(chain->out, "\n");
	return ++chain->n < FRAMES_MAX;
}

int chains_add(struct tally *tally, const struct uspl_lock_chain *kept, const char *indent,
	       struct buf *out, struct uspl_err *err)
{
	auto_unwinder struct unwinder *unwinder = NULL;
	struct chain chain = { tally, indent, out, 0 };
	struct some_regs regs;
	taddr end;
	int rc;

	if (!kept->ticks || kept->len > sizeof(kept->stack))
		return 0;
	rc = stack_unwinder_new(tally->view.proc, &tally->view.modules, &unwinder, err);
	if (rc)
		return rc;
	regs_from_kept(kept->regs, kept->pc, kept->sp, &regs);
	unwinder_lend_stack(unwinder, kept->sp, kept->stack, kept->len);
	unwind(unwinder, &regs, visit, &chain, &end);
	return 0;
}
