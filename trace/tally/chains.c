// SPDX-License-Identifier: GPL-3.0-or-later
// chains.c - call chains that listeners have kept, unwound

#include "trace/tally/chains.h"

#include "safety/stack.h"
#include "trace/output/view.h"
#include "uspl/listen_abi.h"

#define FRAMES_MAX 64

/* A chain while it is followed: each function is shown by `add`. */
struct chain {
	struct tally *tally;
	void (*add)(struct chain *chain, const char *place);
	const char *indent;
	struct buf *out;
	struct json *json;
	size_t n;
};

static void add_line(struct chain *chain, const char *place)
{
	buf_addf(chain->out, "%s%s\n", chain->indent, place);
}

static void add_string(struct chain *chain, const char *place)
{
	json_string(chain->json, NULL, place);
}

static bool visit(void *ctx, const struct unwind_frame *frame)
{
	struct chain *chain = ctx;
	auto_buf struct buf place = { 0 };

	places_add_caller(&chain->tally->places, frame->pc, &place);
	chain->add(chain, buf_str(&place));
	return ++chain->n < FRAMES_MAX;
}

static bool is_kept(const struct uspl_lock_chain *kept)
{
	return kept->ticks && kept->len <= sizeof(kept->stack);
}

static int follow(struct chain *chain, const struct uspl_lock_chain *kept, struct uspl_err *err)
{
	const struct view *view = &chain->tally->view;
	auto_unwinder struct unwinder *unwinder = NULL;
	struct some_regs regs;
	taddr end;
	int rc = stack_unwinder_new(view->proc, &view->modules, &unwinder, err);

	if (rc)
		return rc;
	regs_from_kept(kept->regs, kept->pc, kept->sp, &regs);
	unwinder_lend_stack(unwinder, kept->sp, kept->stack, kept->len);
	unwind(unwinder, &regs, visit, chain, &end);
	return 0;
}

int chains_add(struct tally *tally, const struct uspl_lock_chain *kept, const char *indent,
	       struct buf *out, struct uspl_err *err)
{
	struct chain chain = { .tally = tally, .add = add_line, .indent = indent, .out = out };

	return is_kept(kept) ? follow(&chain, kept, err) : 0;
}

int chains_add_json(struct tally *tally, const struct uspl_lock_chain *kept, const char *key,
		    struct json *json, struct uspl_err *err)
{
	struct chain chain = { .tally = tally, .add = add_string, .json = json };
	int rc;

	if (!is_kept(kept))
		return 0;
	json_open(json, key, '[');
	rc = follow(&chain, kept, err);
	json_close(json, ']');
	return rc;
}
