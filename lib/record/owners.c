// SPDX-License-Identifier: GPL-3.0-or-later
// owners.c - the other owners of functions: for the code that switches them

#include "record/owners.h"

#include "arch/arch.h"
#include "record/chain_slot.h"
#include "record/probe_records.h"
#include "record/region_entry.h"
#include "record/registry.h"
#include "record/trace_records.h"

_Static_assert(OWNERS_HIDDEN_MAX == USPL_MARK_SHADOWS + 1,
	       "the tracer's shadow, and one for each session of markers");

#define SHADOW_LEN (2 * USPL_TRACE_CHUNK)
/* Those of several chunks in a row are one mapping, but none is as large as that. */
#define SHADOWS_MAX (1ull << 30)

struct owners {
	const struct proc *proc;
	struct marks marks; /* and what is traced, too */
};

int owners_read(const struct proc *proc, struct owners **ret, struct uspl_err *err)
{
	auto_owners struct owners *owners = calloc(1, sizeof(*owners));
	int rc;

	if (!owners)
		return uspl_fail_nomem(err);
	owners->proc = proc;
	rc = marks_read(proc, &owners->marks, err);
	if (rc)
		return rc;
	*ret = take_ptr(owners);
	return 0;
}

void owners_free(struct owners *owners)
{
	if (!owners)
		return;
	marks_release(&owners->marks);
	free(owners);
}

int owners_adopt_site(const struct owners *owners, struct region_site *site, struct uspl_err *err)
{
	return chain_slot_adopt(owners->proc, &owners->marks, site, err);
}

int owners_refuse_at(const struct owners *owners, const struct region_site *site,
		     struct uspl_err *err)
{
	return marks_refuse_at(owners->proc, &owners->marks, site->name, region_site_entry(site),
			       site->len, err);
}

int owners_refuse_behind(const struct owners *owners, const struct region_site *site,
			 struct uspl_err *err)
{
	const struct trace_session *session = &owners->marks.traced;
	const struct uspl_trace_site *traced;
	const struct trace_region *region;

	if (marks_jump_in(owners->proc, &owners->marks, site->addr + site->len,
			  arch_native()->jump_len - 1))
		return uspl_fail(
			err, USPL_E_UNSUPPORTED,
			"'%s' is so short that the next function's first bytes are needed, "
			"and a marker or probe that is on has its jump there",
			site->name);
	if (!trace_session_is_on(session))
		return 0;
	vec_for_each (&session->regions, region)
		vec_for_each (&region->sites, traced)
			if (traced->entry != site->addr &&
			    region_site_leans_on(site, traced->entry, arch_native()->jump_len))
				return uspl_fail(err, USPL_E_UNSUPPORTED,
						 "'%s' is so short that the next function's first "
						 "bytes are needed, and that one is traced",
						 site->name);
	return 0;
}

bool owners_next_code(const struct owners *owners, struct owners_code *code)
{
	for (; code->region < owners->marks.regions.n; code->region++, code->next = 0) {
		const struct mark_region *region = &owners->marks.regions.items[code->region];
		const struct uspl_probe *probe;

		if (code->next == region->probes.n)
			continue;
		probe = &region->probes.items[code->next++];
		code->site = probe->site;
		code->start = probe->code;
		code->end = probe->code + probe->code_len;
		code->begins = probe->end;
		return true;
	}
	return false;
}

bool owners_body(const struct owners *owners, taddr entry, struct owners_code *ret)
{
	const struct uspl_trace_site *traced = trace_session_site_at(&owners->marks.traced, entry);

	if (!traced)
		return false;
	*ret = (struct owners_code){ .site = entry,
				     .start = traced->body,
				     .end = traced->body + traced->body_len,
				     .begins = traced->body };
	return true;
}

/* A thunk that traces entries only has nothing on the stack, wherever a thread is in it. */
static int entry_depth(size_t offset)
{
	(void)offset;
	return 0;
}

/* Adds a module's thunks, and the runtime's copy there. */
static int add_traced(const struct uspl_trace_region *head, struct unwinder *unwinder,
		      struct uspl_err *err)
{
	const struct unwind_tracer tracer = {
		.thunks = head->thunks,
		.thunks_end = head->thunks + head->thunks_len,
		.code = head->code,
		.code_end = head->thunks + head->text_len,
		.eh_frame = head->entries ? 0 : head->eh_frame,
		.eh_frame_len = USPL_TRACE_FRAMES,
		.shadow = head->shadow,
	};
	/* What unwinders don't know of the thunks by their own information. */
	const struct unwind_mould entries = { head->thunks, head->thunks + head->thunks_len,
					      USPL_TRACE_THUNK, entry_depth };
	int rc = unwinder_add_tracer(unwinder, &tracer, err);

	if (rc)
		return rc;
	rc = unwinder_add_runtime(unwinder, head->code, head->thunks + USPL_TRACE_THUNK_PUSHED,
				  err);
	if (rc || !head->entries)
		return rc;
	return unwinder_add_mould(unwinder, &entries, err);
}

/* Adds probes, and the returns that they wait for. */
static int add_probes(const struct uspl_mark_region *head, struct unwinder *unwinder,
		      struct uspl_err *err)
{
	const struct unwind_tracer tracer = {
		.thunks = head->thunks,
		.thunks_end = head->thunks + head->thunks_len,
		.code = head->code,
		.code_end = head->text + head->text_len,
		.eh_frame = head->eh_frame,
		.eh_frame_len = USPL_TRACE_FRAMES,
		.shadow = head->shared.shadow,
	};
	int rc = unwinder_add_tracer(unwinder, &tracer, err);

	if (rc || !head->eh_frame)
		return rc;
	return unwinder_add_runtime(unwinder, head->code, head->thunks + USPL_TRACE_THUNK_PUSHED,
				    err);
}

int owners_add_to_unwinder(const struct owners *owners, struct unwinder *unwinder,
			   struct uspl_err *err)
{
	const struct trace_region *traced;
	const struct mark_region *probes;
	int rc;

	vec_for_each (&owners->marks.traced.regions, traced) {
		rc = add_traced(&traced->head, unwinder, err);
		if (rc)
			return rc;
	}
	vec_for_each (&owners->marks.regions, probes) {
		rc = add_probes(&probes->head, unwinder, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int add_memory(owners_memory_vec *memory, taddr start, uint64_t len, struct uspl_err *err)
{
	struct owners_memory *item = vec_push(memory);

	if (!item)
		return uspl_fail_nomem(err);
	*item = (struct owners_memory){ start, len };
	return 0;
}

/*
 * The shadows of stacks that threads have gone through. One that a thread is about to map isn't
 * there yet, or something else is.
 */
static int add_shadows(const struct proc *proc, const struct uspl_trace_shared_map *mark,
		       owners_memory_vec *memory, struct uspl_err *err)
{
	uint64_t chunks[USPL_TRACE_CHUNKS];
	int rc = proc_charge(proc, 1, sizeof(chunks), err);

	if (!rc)
		rc = proc_read(proc, mark->chunks, chunks, sizeof(chunks), err);
	for (size_t i = 0; !rc && i < USPL_TRACE_CHUNKS; i++)
		if (chunks[i] && !(chunks[i] % USPL_TRACE_CHUNK))
			rc = add_memory(memory, USPL_TRACE_SHADOW(chunks[i]) ^ mark->shadow,
					SHADOW_LEN, err);
	return rc;
}

static bool has_writable(const struct proc *proc, taddr start, uint64_t len)
{
	size_t i = vec_lower_bound(&proc->maps, it, it->end <= start);

	for (; i < proc->maps.n && proc->maps.items[i].start < start + len; i++)
		if (proc->maps.items[i].write)
			return true;
	return false;
}

/* True for the place of a shadow of memory that may be a stack. */
static bool is_shadow_of_some(const struct proc *proc, taddr shadow)
{
	const uint64_t bit = 1ull << USPL_TRACE_SHADOW_BIT, lost = bit / 2;

	return !(shadow & bit) && (has_writable(proc, shadow / 2, USPL_TRACE_CHUNK) ||
				   has_writable(proc, shadow / 2 | lost, USPL_TRACE_CHUNK));
}

/*
 * A child of fork has copies of the shadows, and an empty table. They are known by their places,
 * which the tracer has chosen such that nothing else was where the stacks have their shadows.
 */
static int add_copies(const struct proc *proc, const struct uspl_trace_shared_map *mark,
		      owners_memory_vec *memory, struct uspl_err *err)
{
	const struct mapping *map;
	int rc = 0;

	vec_for_each (&proc->maps, map) {
		taddr at = (map->start + SHADOW_LEN - 1) & ~(taddr)(SHADOW_LEN - 1);

		if (!map->write || !mapping_is_nameless(map) || map->end - map->start > SHADOWS_MAX)
			continue;
		for (; !rc && at + SHADOW_LEN <= map->end; at += SHADOW_LEN)
			if (is_shadow_of_some(proc, at ^ mark->shadow))
				rc = add_memory(memory, at, SHADOW_LEN, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct owners_memory *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

int owners_find_memory(const struct proc *proc, owners_memory_vec *ret, struct uspl_err *err)
{
	struct registry registry;
	struct record record;
	int rc;

	registry_begin(&registry, proc, RECORD_SHARED);
	while ((rc = registry_next(&registry, &record, err)) > 0) {
		const struct uspl_trace_shared_map *mark = &record.head.shared;
		taddr end = mark->absent ? mark->absent : mark->map + mark->map_len;
		uint64_t alive = 1;

		rc = add_memory(ret, mark->map, end - mark->map, err);
		if (!rc && mark->absent)
			rc = proc_read(proc, mark->alive, &alive, sizeof(alive), err);
		if (!rc && mark->chunks)
			rc = alive ? add_shadows(proc, mark, ret, err)
				   : add_copies(proc, mark, ret, err);
		if (rc)
			return rc;
	}
	if (ret->n)
		qsort(ret->items, ret->n, sizeof(*ret->items), by_start);
	return rc;
}

bool owners_memory_has(const owners_memory_vec *memory, taddr addr)
{
	size_t behind = vec_lower_bound(memory, it, it->start <= addr);
	const struct owners_memory *item = memory->items + behind;

	return behind && addr - item[-1].start < item[-1].len;
}
