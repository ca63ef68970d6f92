// SPDX-License-Identifier: GPL-3.0-or-later
// part.c - a session's part in one module: thunks, the runtime's copy, the record
/*
 *     guard | record, r-- | runtime, r-x | control, rw- | listeners, thunks and moved instructions,
 *     r-x | frames, words, r-- | guard
 *
 * The record is written last: what has none doesn't exist.
 */

#include "trace/engine/part.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/trampoline.h"
#include "base/log.h"
#include "inject/inject.h"
#include "inject/rlimits.h"
#include "proc/memcg.h"
#include "record/unfinished.h"
#include "trace/engine/listen_plan.h"
#include "trace/engine/nops.h"
#include "trace/engine/session.h"
#include "trace/engine/share.h"

#define TRIES 5
#define WORD 8

/* A part while it is made. */
struct part {
	struct proc *proc;
	const struct module *module;
	const spot_vec *spots;
	const struct trace_request *request;
	struct trace_region region;
	struct buf text; /* thunks, then bodies */
	struct buf frames;
};

static uint64_t info_len(const struct part *part)
{
	return trace_pages(sizeof(struct uspl_trace_region) +
			   part->spots->n * sizeof(struct uspl_trace_site) +
			   strlen(part->module->name) + 1);
}

/* Moves a spot's instructions to the end of text. */
static int move(struct part *part, const struct spot *spot, struct uspl_err *err)
{
	taddr base = part->region.head.thunks;
	uint8_t out[INSN_MOVED_MAX];
	size_t at = 0, len;

	while (at < spot->len) {
		int n = insn_move(spot->entry + at, spot->code + at, sizeof(spot->code) - at,
				  base + part->text.len, out, &len, err);

		if (n < 0)
			return n;
		buf_add(&part->text, out, len);
		at += (size_t)n;
	}
	return 0;
}

static int add_jump(struct part *part, taddr to, struct uspl_err *err)
{
	uint8_t out[USPL_TRACE_SITE_BYTES];

	if (!arch_native()->jump_encode(part->region.head.thunks + part->text.len, to, out))
		return uspl_fail(err, USPL_E_OUT_OF_REACH, "0x%" PRIx64 " is out of reach", to);
	buf_add(&part->text, out, sizeof(out));
	return 0;
}

/*
 * The slot that a body begins with: a NOP, or the jump of a probe or update of the function
 * (record/slot.h).
 */
static int add_slot(struct part *part, const struct spot *spot, struct uspl_err *err)
{
	uint8_t nop[USPL_TRACE_SITE_BYTES];

	if (spot->patched)
		return add_jump(part, spot->patched, err);
	if (!arch_native()->nop_encode(nop, sizeof(nop)))
		return uspl_fail(err, USPL_E_BUG, "no NOP of %zu bytes", sizeof(nop));
	buf_add(&part->text, nop, sizeof(nop));
	return 0;
}

/* Appends what site i's thunk runs. */
static int add_body(struct part *part, size_t i, struct uspl_err *err)
{
	const struct spot *spot = &part->spots->items[i];
	struct uspl_trace_site *site = &part->region.sites.items[i];
	taddr base = part->region.head.thunks;
	int rc;

	buf_align(&part->text, WORD);
	site->body = base + part->text.len;
	rc = add_slot(part, spot, err);
	if (!rc && spot->kind == SPOT_MOVED)
		rc = move(part, spot, err);
	if (!rc)
		rc = add_jump(part, spot->entry + spot->len, err);
	site->body_len = (uint8_t)(base + part->text.len - site->body);
	return rc;
}

/* The site in the plan of a spot that is listened to, else NULL. */
static struct uspl_listen_site *listen_site(const struct part *part, const struct spot *spot)
{
	return spot->listen ? &part->request->listen->sites.items[spot->listen - 1] : NULL;
}

/* Puts in front of what the thunk runs what tells a listener. */
static int add_stub(struct part *part, struct uspl_listen_site *site, struct thunk *thunk,
		    struct uspl_err *err)
{
	uint8_t stub[USPL_LISTEN_STUB];
	taddr at;

	buf_align(&part->text, WORD);
	at = part->region.head.thunks + part->text.len;
	if (!arch_native()->thunk_stub(thunk, at, stub))
		return uspl_fail(err, USPL_E_OUT_OF_REACH, "listeners are out of reach");
	buf_add(&part->text, stub, sizeof(stub));
	thunk->body = at;
	thunk->heard = true;
	site->id = thunk->id;
	site->back = part->request->entries || site->bare ? 0 : thunk->at + USPL_TRACE_THUNK_RETURN;
	return 0;
}

static int add_thunk(struct part *part, size_t i, uint8_t *thunks, struct uspl_err *err)
{
	const struct uspl_trace_region *head = &part->region.head;
	const struct arch *arch = arch_native();
	struct uspl_listen_site *listen = listen_site(part, &part->spots->items[i]);
	uint64_t at = i * USPL_TRACE_THUNK;
	struct thunk thunk = { .at = head->thunks + at,
			       .runtime = head->code,
			       .id = head->first_id + (uint32_t)i,
			       .limited = part->request->depth != 0 };
	bool (*write)(const struct thunk *thunk, uint8_t *code);
	int rc = add_body(part, i, err);

	thunk.body = part->region.sites.items[i].body;
	if (!rc && listen)
		rc = add_stub(part, listen, &thunk, err);
	write = listen && listen->bare   ? arch->thunk_bare
		: part->request->entries ? arch->thunk_entry
					 : arch->thunk_call;
	if (!rc && !write(&thunk, thunks + at))
		rc = uspl_fail(err, USPL_E_OUT_OF_REACH, "a thunk at 0x%" PRIx64 " is out of reach",
			       thunk.at);
	return rc;
}

/* Makes the text for the addresses in the head. */
static int make_text(struct part *part, struct uspl_err *err)
{
	uint64_t len = part->spots->n * USPL_TRACE_THUNK;
	auto_free uint8_t *thunks = calloc(part->spots->n, USPL_TRACE_THUNK);
	int rc = 0;

	buf_release(&part->text);
	buf_release(&part->frames);
	if (!thunks)
		return uspl_fail_nomem(err);
	part->region.head.thunks_len = len;
	buf_addzero(&part->text, len);
	for (size_t i = 0; !rc && i < part->spots->n; i++)
		rc = add_thunk(part, i, thunks, err);
	if (rc)
		return rc;
	part->region.head.text_len = part->text.len;
	arch_native()->thunk_frames(&part->frames, part->region.head.eh_frame,
				    part->region.head.thunks, len, 0, part->region.head.shadow);
	if (part->text.oom || part->frames.oom)
		return uspl_fail_nomem(err);
	memcpy(part->text.data, thunks, len);
	return 0;
}

/* Of the listeners' code, behind the control page; 0 if nobody listens. */
static uint64_t listeners_len(const struct part *part)
{
	size_t len = 0;

	if (part->request->listen)
		(void)arch_native()->listen_code(&len);
	return trace_pages(len);
}

/* Lays the parts out from `map` on. */
static void place(struct part *part, taddr map, uint64_t text_len)
{
	struct uspl_trace_region *head = &part->region.head;

	head->map = map;
	head->self = map + PAGE;
	head->info_len = info_len(part);
	head->code = head->self + head->info_len;
	head->thunks = head->code + USPL_LISTEN_CODE + listeners_len(part);
	head->eh_frame = head->thunks + trace_pages(text_len);
	head->words = head->eh_frame + USPL_TRACE_FRAMES;
	head->words_len = trace_pages(nops_count_words(part->spots) * sizeof(struct inject_word));
	head->map_len = head->words + head->words_len + PAGE - map;
}

static int map_all(struct part *part, bool *ret_taken, struct uspl_err *err)
{
	const struct uspl_trace_region *head = &part->region.head;
	struct inject_req reqs[UNFINISHED_REQS + 3] = {
		[UNFINISHED_REQS] = inject_mmap(head->code, USPL_TRACE_CONTROL,
						PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED),
		inject_mmap(head->code + USPL_LISTEN_CODE,
			    head->eh_frame - (head->code + USPL_LISTEN_CODE), PROT_READ | PROT_EXEC,
			    MAP_PRIVATE | MAP_FIXED),
		inject_mmap(head->eh_frame, USPL_TRACE_FRAMES + head->words_len, PROT_READ,
			    MAP_PRIVATE | MAP_FIXED),
	};
	size_t done;
	int rc;

	unfinished_begin(USPL_UNFINISHED_MAGIC, head->map, head->map_len, head->self,
			 head->info_len, reqs);
	/* The control page is written to only when all is mapped. */
	rc = inject_run_mapping(part->proc, head->code + USPL_TRACE_CONTROL, reqs, ARRAY_SIZE(reqs),
				&done, err);
	if (rc)
		return rc;
	*ret_taken = reqs[0].result == -EEXIST;
	if (*ret_taken ||
	    (done == ARRAY_SIZE(reqs) && (taddr)reqs[done - 1].result == head->eh_frame))
		return 0;
	errno = (int)-reqs[done - 1].result;
	rc = uspl_fail_errno(err, "cannot map the tracer's code in pid %d", part->proc->pid);
	rlimits_hint(part->proc, -reqs[done - 1].result, err);
	if (done > 1)
		part_give_back(part->proc, head->map, head->map_len, "thunks");
	return rc;
}

static int fill_sites(struct part *part, struct uspl_err *err)
{
	const struct spot *spot;

	vec_release(&part->region.sites);
	vec_for_each (part->spots, spot) {
		struct uspl_trace_site *site = vec_push(&part->region.sites);

		if (!site)
			return uspl_fail_nomem(err);
		*site = (struct uspl_trace_site){ .entry = spot->entry,
						  .guard = spot->guard,
						  .moved = spot->kind == SPOT_MOVED };
		memcpy(site->old_bytes, spot->code, sizeof(site->old_bytes));
	}
	return 0;
}

static int write_all(struct part *part, struct uspl_err *err)
{
	struct uspl_trace_region *head = &part->region.head;
	struct uspl_trace_control control;
	auto_buf struct buf info = { 0 };
	const uint8_t *code;
	size_t code_len;
	int rc;

	share_control(part->proc, head, &control);
	control.arenas[0] = (struct uspl_trace_arena){ head->thunks, head->thunks_len };
	head->sites = sizeof(*head);
	head->module_name = (uint32_t)(sizeof(*head) +
				       part->region.sites.n * sizeof(*part->region.sites.items));
	buf_add(&info, head, sizeof(*head));
	buf_add(&info, part->region.sites.items,
		part->region.sites.n * sizeof(*part->region.sites.items));
	buf_add(&info, part->module->name, strlen(part->module->name) + 1);
	if (info.oom)
		return uspl_fail_nomem(err);
	code = arch_native()->trace_runtime(&code_len);
	rc = proc_write(part->proc, head->code, code, code_len, err);
	if (!rc)
		rc = proc_write(part->proc, head->code + USPL_TRACE_CONTROL, &control,
				sizeof(control), err);
	code = arch_native()->listen_code(&code_len);
	if (!rc && part->request->listen)
		rc = proc_write(part->proc, head->code + USPL_LISTEN_CODE, code, code_len, err);
	if (!rc)
		rc = proc_write(part->proc, head->thunks, part->text.data, part->text.len, err);
	if (!rc)
		rc = proc_write(part->proc, head->eh_frame, part->frames.data, part->frames.len,
				err);
	return rc ? rc : proc_write(part->proc, head->self, info.data, info.len, err);
}

/* Finds a place, maps it, and makes the text for it. */
static int settle(struct part *part, struct uspl_err *err)
{
	bool taken = true;
	uint64_t text_len;
	int rc;

	/* Once for its length, which doesn't depend on the place. */
	place(part, part->module->start, 0);
	rc = make_text(part, err);
	text_len = part->text.len;
	for (int i = 0; !rc && taken && i < TRIES; i++) {
		taddr map;

		place(part, part->module->start, text_len);
		map = mappings_find_hole(&part->proc->maps, part->module->start, part->module->end,
					 part->region.head.map_len, arch_native()->reach);
		if (!map)
			return uspl_fail(err, USPL_E_OUT_OF_REACH,
					 "there is no room for %" PRIu64
					 " bytes near '%s' in pid %d",
					 part->region.head.map_len, part->module->name,
					 part->proc->pid);
		place(part, map, text_len);
		rc = make_text(part, err);
		if (!rc && part->text.len != text_len)
			rc = uspl_fail(err, USPL_E_BUG, "moved code changes its length");
		/* All of it but the ends is written. */
		if (!rc)
			rc = memcg_require(part->proc, part->region.head.map_len, err);
		if (!rc)
			rc = map_all(part, &taken, err);
		if (!rc)
			rc = proc_refresh_maps(part->proc, err);
	}
	if (!rc && taken)
		rc = uspl_fail(err, USPL_E_OUT_OF_REACH, "every place near '%s' is taken",
			       part->module->name);
	return rc;
}

int part_load(struct proc *proc, const struct module *module, const spot_vec *spots,
	      const struct trace_request *request, const struct uspl_trace_region *shared,
	      struct trace_region *ret, struct uspl_err *err)
{
	struct part part = { proc, module, spots, request, { .head = *shared }, { 0 }, { 0 } };
	struct uspl_trace_region *head = &part.region.head;
	int rc;

	head->magic = USPL_TRACE_MAGIC;
	head->version = USPL_TRACE_ABI_VERSION;
	head->state = USPL_TRACE_LOADED;
	head->module = module->start;
	head->entries = request->entries;
	head->n_sites = (uint32_t)spots->n;
	part.region.module_name = strdup(module->name);
	rc = part.region.module_name ? fill_sites(&part, err) : uspl_fail_nomem(err);
	if (!rc)
		rc = settle(&part, err);
	if (!rc) {
		rc = write_all(&part, err);
		if (rc)
			part_give_back(proc, part.region.head.map, part.region.head.map_len,
				       "thunks");
	}
	buf_release(&part.text);
	buf_release(&part.frames);
	if (!rc) {
		*ret = part.region;
		return 0;
	}
	free(part.region.module_name);
	vec_release(&part.region.sites);
	return rc;
}

void part_give_back(const struct proc *proc, taddr map, uint64_t len, const char *what)
{
	struct uspl_err err = { 0 };

	if (inject_unmap(proc, map, len, &err))
		log_info("trace", "%s of pid %d stay mapped until the next start: %s", what,
			 proc->pid, err.msg);
}

int part_write_state(const struct proc *proc, struct trace_region *region,
		     enum uspl_trace_state state, struct uspl_err *err)
{
	uint32_t value = state;
	int rc = proc_write(proc, region->head.self + offsetof(struct uspl_trace_region, state),
			    &value, sizeof(value), err);

	if (!rc)
		region->head.state = value;
	return rc;
}

void part_site_jump(const struct trace_region *region, size_t i, uint8_t *ret_bytes)
{
	/* Encoded before, at load: it reaches. */
	(void)arch_native()->jump_encode(region->sites.items[i].entry,
					 region->head.thunks + i * USPL_TRACE_THUNK, ret_bytes);
}
