// SPDX-License-Identifier: GPL-3.0-or-later
// trace_module.c - a session's part in one module: thunks, the runtime's copy, the record
/*
 *     guard | record, r-- | runtime, r-x | control, rw- | listeners, thunks and moved instructions,
 *     r-x | frames, words, r-- | flags, rw- | guard
 *
 * The record is written last: for the tools, a part without a record doesn't exist.
 */

#include "trace/engine/trace_module.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/trampoline.h"
#include "base/log.h"
#include "inject/inject.h"
#include "inject/rlimits.h"
#include "proc/memcg.h"
#include "record/partial_mapping.h"
#include "trace/engine/listen_plan.h"
#include "trace/engine/merge_nops.h"
#include "trace/engine/session.h"
#include "trace/engine/sums.h"
#include "trace/engine/trace_buffers.h"

#define TRIES 5
#define WORD 8

/* A part while it is made. */
struct trace_module {
	struct proc *proc;
	const struct module *module;
	const candidate_vec *candidates;
	const struct trace_request *request;
	struct trace_region region;
	struct buf text; /* thunks, then bodies */
	struct buf frames;
};

static void release(struct trace_module *trace_module)
{
	buf_release(&trace_module->text);
	buf_release(&trace_module->frames);
	free(trace_module->region.module_name);
	vec_release(&trace_module->region.sites);
}

DEFINE_AUTO_RELEASE(trace_module, struct trace_module, release)
#define auto_trace_module __attribute__((cleanup(cleanup_trace_module_)))

static uint64_t info_len(const struct trace_module *trace_module)
{
	return trace_pages(sizeof(struct uspl_trace_region) +
			   trace_module->candidates->n * sizeof(struct uspl_trace_site) +
			   strlen(trace_module->module->name) + 1);
}

/* Moves a candidate's instructions to the end of text. */
static int move(struct trace_module *trace_module, const struct candidate *candidate,
		struct uspl_err *err)
{
	taddr base = trace_module->region.head.thunks;
	uint8_t out[INSN_MOVED_MAX];
	size_t at = 0, len;

	while (at < candidate->len) {
		int n = insn_move(candidate->entry + at, candidate->code + at,
				  sizeof(candidate->code) - at, base + trace_module->text.len, out,
				  &len, err);

		if (n < 0)
			return n;
		buf_add(&trace_module->text, out, len);
		at += (size_t)n;
	}
	return 0;
}

static int add_jump(struct trace_module *trace_module, taddr to, struct uspl_err *err)
{
	uint8_t out[USPL_TRACE_SITE_BYTES];

	if (!arch_native()->jump_encode(trace_module->region.head.thunks + trace_module->text.len,
					to, out))
		return uspl_fail(err, USPL_E_OUT_OF_REACH, "0x%" PRIx64 " is out of reach", to);
	buf_add(&trace_module->text, out, sizeof(out));
	return 0;
}

/* Appends what site i's thunk runs. */
static int add_body(struct trace_module *trace_module, size_t i, struct uspl_err *err)
{
	const struct candidate *candidate = &trace_module->candidates->items[i];
	struct uspl_trace_site *site = &trace_module->region.sites.items[i];
	uint8_t nop[USPL_TRACE_SITE_BYTES];
	taddr base = trace_module->region.head.thunks;
	int rc;

	buf_align(&trace_module->text, WORD);
	site->body = base + trace_module->text.len;
	/*
	 * The chain slot that a body begins with: a NOP, or the jump of a probe or update of the
	 * function (record/chain_slot.h).
	 */
	if (candidate->patched) {
		rc = add_jump(trace_module, candidate->patched, err);
		if (rc)
			return rc;
	} else {
		if (!arch_native()->nop_encode(nop, sizeof(nop)))
			return uspl_fail(err, USPL_E_BUG, "no NOP of %zu bytes", sizeof(nop));
		buf_add(&trace_module->text, nop, sizeof(nop));
	}
	if (candidate->kind == CANDIDATE_MOVED) {
		rc = move(trace_module, candidate, err);
		if (rc)
			return rc;
	}
	rc = add_jump(trace_module, candidate->entry + candidate->len, err);
	if (rc)
		return rc;
	site->body_len = (uint8_t)(base + trace_module->text.len - site->body);
	return 0;
}

/* The site in the plan of a candidate that is listened to, else NULL. */
static struct uspl_listen_site *listen_site(const struct trace_module *trace_module,
					    const struct candidate *candidate)
{
	return candidate->listen
		       ? &trace_module->request->listen->sites.items[candidate->listen - 1]
		       : NULL;
}

/* Puts the stub that tells a listener in front of what the thunk runs. */
static int add_stub(struct trace_module *trace_module, struct uspl_listen_site *site,
		    struct thunk *thunk, struct uspl_err *err)
{
	uint8_t stub[USPL_LISTEN_STUB];
	taddr at;

	buf_align(&trace_module->text, WORD);
	at = trace_module->region.head.thunks + trace_module->text.len;
	if (!arch_native()->thunk_stub(thunk, at, stub))
		return uspl_fail(err, USPL_E_OUT_OF_REACH, "listeners are out of reach");
	buf_add(&trace_module->text, stub, sizeof(stub));
	thunk->body = at;
	thunk->heard = true;
	site->id = thunk->id;
	site->back = trace_module->request->entries || site->bare
			     ? 0
			     : thunk->at + USPL_TRACE_THUNK_RETURN;
	return 0;
}

static int add_thunk(struct trace_module *trace_module, size_t i, uint8_t *thunks,
		     struct uspl_err *err)
{
	const struct uspl_trace_region *head = &trace_module->region.head;
	const struct arch *arch = arch_native();
	struct uspl_listen_site *listen =
		listen_site(trace_module, &trace_module->candidates->items[i]);
	uint64_t at = i * USPL_TRACE_THUNK;
	const struct listen_plan *plan = trace_module->request->listen;
	struct thunk thunk = { .at = head->thunks + at,
			       .runtime = head->code,
			       .id = head->first_id + (uint32_t)i,
			       .limited = trace_module->request->depth != 0,
			       .summed = plan && plan->cell_len,
			       .flag = sums_flags(head) + i };
	bool (*write)(const struct thunk *thunk, uint8_t *code);
	int rc = add_body(trace_module, i, err);

	if (rc)
		return rc;
	thunk.body = trace_module->region.sites.items[i].body;
	if (listen) {
		rc = add_stub(trace_module, listen, &thunk, err);
		if (rc)
			return rc;
	}
	write = listen && listen->bare           ? arch->thunk_bare
		: plan && plan->flag             ? arch->thunk_flag
		: trace_module->request->entries ? arch->thunk_entry
						 : arch->thunk_call;
	if (!write(&thunk, thunks + at))
		return uspl_fail(err, USPL_E_OUT_OF_REACH,
				 "a thunk at 0x%" PRIx64 " is out of reach", thunk.at);
	return 0;
}

/* Makes the text for the addresses in the head. */
static int make_text(struct trace_module *trace_module, struct uspl_err *err)
{
	uint64_t len = trace_module->candidates->n * USPL_TRACE_THUNK;
	auto_free uint8_t *thunks = calloc(trace_module->candidates->n, USPL_TRACE_THUNK);
	int rc = 0;

	buf_release(&trace_module->text);
	buf_release(&trace_module->frames);
	if (!thunks)
		return uspl_fail_nomem(err);
	trace_module->region.head.thunks_len = len;
	buf_addzero(&trace_module->text, len);
	for (size_t i = 0; i < trace_module->candidates->n; i++) {
		rc = add_thunk(trace_module, i, thunks, err);
		if (rc)
			return rc;
	}
	trace_module->region.head.text_len = trace_module->text.len;
	arch_native()->thunk_frames(&trace_module->frames, trace_module->region.head.eh_frame,
				    trace_module->region.head.thunks, len, 0,
				    trace_module->region.head.shadow);
	if (trace_module->text.oom || trace_module->frames.oom)
		return uspl_fail_nomem(err);
	memcpy(trace_module->text.data, thunks, len);
	return 0;
}

/* Lays the parts out from `map` on. */
static void place(struct trace_module *trace_module, taddr map, uint64_t text_len)
{
	const struct listen_plan *plan = trace_module->request->listen;
	struct uspl_trace_region *head = &trace_module->region.head;
	size_t listeners_len = 0;

	head->map = map;
	head->self = map + PAGE;
	head->info_len = info_len(trace_module);
	head->code = head->self + head->info_len;
	/* Behind the control page lies the listeners' code, if there are listeners. */
	if (plan)
		(void)arch_native()->listen_code(&listeners_len);
	head->thunks = head->code + USPL_LISTEN_CODE + trace_pages(listeners_len);
	head->eh_frame = head->thunks + trace_pages(text_len);
	head->poke_table = head->eh_frame + USPL_TRACE_FRAMES;
	head->poke_table_len = trace_pages(merge_nops_count_words(trace_module->candidates) *
					   sizeof(struct inject_word));
	head->map_len = sums_flags(head) + PAGE - map;
	if (plan && plan->flag)
		head->map_len += trace_pages(trace_module->candidates->n);
}

static int map_all(struct trace_module *trace_module, bool *ret_taken, struct uspl_err *err)
{
	const struct uspl_trace_region *head = &trace_module->region.head;
	struct inject_req reqs[PARTIAL_MAPPING_REQS + 3] = {
		[PARTIAL_MAPPING_REQS] =
			inject_mmap(head->code, USPL_TRACE_CONTROL, PROT_READ | PROT_EXEC,
				    MAP_PRIVATE | MAP_FIXED),
		inject_mmap(head->code + USPL_LISTEN_CODE,
			    head->eh_frame - (head->code + USPL_LISTEN_CODE), PROT_READ | PROT_EXEC,
			    MAP_PRIVATE | MAP_FIXED),
		inject_mmap(head->eh_frame, USPL_TRACE_FRAMES + head->poke_table_len, PROT_READ,
			    MAP_PRIVATE | MAP_FIXED),
	};
	size_t done;
	int rc;

	partial_mapping_begin(USPL_PARTIAL_MAGIC, head->map, head->map_len, head->self,
			      head->info_len, reqs);
	/* The control page is written to only when all is mapped. */
	rc = inject_run_mapping(trace_module->proc, head->code + USPL_TRACE_CONTROL, reqs,
				ARRAY_SIZE(reqs), &done, err);
	if (rc)
		return rc;
	*ret_taken = reqs[0].result == -EEXIST;
	if (*ret_taken ||
	    (done == ARRAY_SIZE(reqs) && (taddr)reqs[done - 1].result == head->eh_frame))
		return 0;
	errno = (int)-reqs[done - 1].result;
	rc = uspl_fail_errno(err, "cannot map the tracer's code in pid %d",
			     trace_module->proc->pid);
	rlimits_hint(trace_module->proc, -reqs[done - 1].result, err);
	if (done > 1)
		trace_module_give_back(trace_module->proc, head->map, head->map_len, "thunks");
	return rc;
}

static int fill_sites(struct trace_module *trace_module, struct uspl_err *err)
{
	const struct candidate *candidate;

	vec_release(&trace_module->region.sites);
	vec_for_each (trace_module->candidates, candidate) {
		struct uspl_trace_site *site = vec_push(&trace_module->region.sites);

		if (!site)
			return uspl_fail_nomem(err);
		*site = (struct uspl_trace_site){ .entry = candidate->entry,
						  .guard = candidate->guard,
						  .moved = candidate->kind == CANDIDATE_MOVED };
		memcpy(site->old_bytes, candidate->code, sizeof(site->old_bytes));
	}
	return 0;
}

static int write_all(struct trace_module *trace_module, struct uspl_err *err)
{
	struct uspl_trace_region *head = &trace_module->region.head;
	struct uspl_trace_control control;
	auto_buf struct buf info = { 0 };
	const uint8_t *code;
	size_t code_len;
	int rc;

	trace_buffers_control(trace_module->proc, head, &control);
	control.arenas[0] = (struct uspl_trace_arena){ head->thunks, head->thunks_len };
	head->sites = sizeof(*head);
	head->module_name =
		(uint32_t)(sizeof(*head) + trace_module->region.sites.n *
						   sizeof(*trace_module->region.sites.items));
	buf_add(&info, head, sizeof(*head));
	buf_add(&info, trace_module->region.sites.items,
		trace_module->region.sites.n * sizeof(*trace_module->region.sites.items));
	buf_add(&info, trace_module->module->name, strlen(trace_module->module->name) + 1);
	if (info.oom)
		return uspl_fail_nomem(err);
	code = arch_native()->trace_runtime(&code_len);
	rc = proc_write(trace_module->proc, head->code, code, code_len, err);
	if (rc)
		return rc;
	rc = proc_write(trace_module->proc, head->code + USPL_TRACE_CONTROL, &control,
			sizeof(control), err);
	if (rc)
		return rc;
	code = arch_native()->listen_code(&code_len);
	if (trace_module->request->listen) {
		rc = proc_write(trace_module->proc, head->code + USPL_LISTEN_CODE, code, code_len,
				err);
		if (rc)
			return rc;
	}
	rc = proc_write(trace_module->proc, head->thunks, trace_module->text.data,
			trace_module->text.len, err);
	if (rc)
		return rc;
	rc = proc_write(trace_module->proc, head->eh_frame, trace_module->frames.data,
			trace_module->frames.len, err);
	if (rc)
		return rc;
	return proc_write(trace_module->proc, head->self, info.data, info.len, err);
}

/* How long the text will be, wherever it lies. */
static uint64_t text_len_of(const struct trace_module *trace_module)
{
	uint64_t len = trace_module->candidates->n * USPL_TRACE_THUNK;
	const struct candidate *candidate;

	vec_for_each (trace_module->candidates, candidate) {
		len = (len + WORD - 1) / WORD * WORD;
		len += 2 * USPL_TRACE_SITE_BYTES + candidate->moved;
		if (listen_site(trace_module, candidate))
			len = (len + WORD - 1) / WORD * WORD + USPL_LISTEN_STUB;
	}
	return len;
}

/* Finds a place, maps it, and makes the text for it. */
static int settle(struct trace_module *trace_module, struct uspl_err *err)
{
	const uint64_t text_len = text_len_of(trace_module);
	bool taken = true;

	for (int i = 0; taken && i < TRIES; i++) {
		taddr map;
		int rc;

		place(trace_module, trace_module->module->start, text_len);
		map = mappings_find_hole(&trace_module->proc->maps, trace_module->module->start,
					 trace_module->module->end,
					 trace_module->region.head.map_len, arch_native()->reach);
		if (!map)
			return uspl_fail(err, USPL_E_OUT_OF_REACH,
					 "there is no room for %" PRIu64
					 " bytes near '%s' in pid %d",
					 trace_module->region.head.map_len,
					 trace_module->module->name, trace_module->proc->pid);
		place(trace_module, map, text_len);
		rc = make_text(trace_module, err);
		if (rc)
			return rc;
		if (trace_module->text.len != text_len)
			return uspl_fail(err, USPL_E_BUG, "moved code changes its length");
		/* All of it but the ends is written. */
		rc = memcg_require(trace_module->proc, trace_module->region.head.map_len, err);
		if (rc)
			return rc;
		rc = map_all(trace_module, &taken, err);
		if (rc)
			return rc;
		rc = proc_refresh_maps(trace_module->proc, err);
		if (rc)
			return rc;
	}
	if (taken)
		return uspl_fail(err, USPL_E_OUT_OF_REACH, "every place near '%s' is taken",
				 trace_module->module->name);
	return 0;
}

int trace_module_load(struct proc *proc, const struct module *module,
		      const candidate_vec *candidates, const struct trace_request *request,
		      const struct uspl_trace_region *shared, struct trace_region *ret,
		      struct uspl_err *err)
{
	auto_trace_module struct trace_module trace_module = {
		proc, module, candidates, request, { .head = *shared }, { 0 }, { 0 }
	};
	struct uspl_trace_region *head = &trace_module.region.head;
	int rc;

	head->magic = USPL_TRACE_MAGIC;
	head->version = USPL_TRACE_ABI_VERSION;
	head->state = USPL_TRACE_LOADED;
	head->module = module->start;
	head->entries = request->entries;
	head->n_sites = (uint32_t)candidates->n;
	trace_module.region.module_name = strdup(module->name);
	if (!trace_module.region.module_name)
		return uspl_fail_nomem(err);
	rc = fill_sites(&trace_module, err);
	if (rc)
		return rc;
	rc = settle(&trace_module, err);
	if (rc)
		return rc;
	rc = write_all(&trace_module, err);
	if (rc) {
		trace_module_give_back(proc, head->map, head->map_len, "thunks");
		return rc;
	}
	*ret = trace_module.region;
	trace_module.region = (struct trace_region){ 0 };
	return 0;
}

int trace_module_fits(struct proc *proc, const struct module *module,
		      const candidate_vec *candidates, const struct trace_request *request,
		      const struct trace_region *region, bool *ret, struct uspl_err *err)
{
	auto_trace_module struct trace_module trace_module = {
		proc, module, candidates, request, { .head = region->head }, { 0 }, { 0 }
	};
	size_t n = candidates->n;
	auto_buf struct buf have = { 0 };
	int rc;

	*ret = false;
	if (!n || n != region->sites.n)
		return 0;
	rc = fill_sites(&trace_module, err);
	if (rc)
		return rc;
	rc = make_text(&trace_module, err);
	if (rc)
		return rc;
	if (trace_module.text.len != region->head.text_len)
		return 0;
	buf_addzero(&have, trace_module.text.len);
	if (have.oom)
		return uspl_fail_nomem(err);
	rc = proc_read(proc, region->head.thunks, have.data, have.len, err);
	if (rc)
		return rc;
	*ret = !memcmp(have.data, trace_module.text.data, have.len) &&
	       !memcmp(trace_module.region.sites.items, region->sites.items,
		       n * sizeof(*region->sites.items));
	return 0;
}

void trace_module_give_back(const struct proc *proc, taddr map, uint64_t len, const char *what)
{
	struct uspl_err err = { 0 };

	if (inject_unmap(proc, map, len, &err))
		log_info("trace", "%s of pid %d stay mapped until the next start: %s", what,
			 proc->pid, err.msg);
}

int trace_module_write_state(const struct proc *proc, struct trace_region *region,
			     enum uspl_trace_state state, struct uspl_err *err)
{
	uint32_t value = state;
	int rc = proc_write(proc, region->head.self + offsetof(struct uspl_trace_region, state),
			    &value, sizeof(value), err);

	if (rc)
		return rc;
	region->head.state = value;
	return 0;
}

void trace_module_site_jump(const struct trace_region *region, size_t i, uint8_t *ret_bytes)
{
	/* Encoded before, at load: it reaches. */
	(void)arch_native()->jump_encode(region->sites.items[i].entry,
					 region->head.thunks + i * USPL_TRACE_THUNK, ret_bytes);
}
