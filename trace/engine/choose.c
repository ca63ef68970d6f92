// SPDX-License-Identifier: GPL-3.0-or-later
// choose.c - which functions of a module are traced, and what they are without updates

#include "trace/engine/choose.h"

#include <string.h>

#include "arch/arch.h"
#include "record/probe_records.h"
#include "record/overlay.h"
#include "trace/engine/listen_plan.h"
#include "trace/engine/session.h"

static int by_entry(const void *key, const void *item)
{
	const taddr *entry = key;
	const struct candidate *candidate = item;

	return *entry < candidate->entry ? -1 : *entry > candidate->entry;
}

/*
 * Notes where the jump of an update, a probe or a marker at a function's entry leads. Candidates
 * are sorted by entry.
 */
static int note_jump(const struct proc *proc, taddr entry, candidate_vec *candidates,
		     struct uspl_err *err)
{
	struct candidate *candidate = candidates->n
					      ? bsearch(&entry, candidates->items, candidates->n,
							sizeof(*candidate), by_entry)
					      : NULL;
	uint8_t have[USPL_TRACE_SITE_BYTES];
	int rc = candidate ? proc_read(proc, entry, have, sizeof(have), err) : 0;

	if (!candidate || rc)
		return rc;
	if (memcmp(have, candidate->code, sizeof(have)))
		candidate->patched = arch_native()->jump_target(entry, have, sizeof(have));
	if (candidate->patched)
		candidate->guard = 1;
	return 0;
}

/*
 * Notes the jumps of updates, of probes, whose jumps stand before theirs, and of markers with which
 * functions begin.
 */
static int note_jumps(const struct proc *proc, const region_vec *updates, const struct marks *marks,
		      candidate_vec *candidates, struct uspl_err *err)
{
	const struct region *region;
	const struct region_site *site;
	const struct mark_region *marked;
	const struct uspl_probe *probe;
	const struct uspl_mark_switch *item;
	int rc = 0;

	vec_for_each (updates, region)
		vec_for_each (&region->sites, site)
			if (region_is_live(region)) {
				rc = note_jump(proc, region_site_entry(site), candidates, err);
				if (rc)
					return rc;
			}
	vec_for_each (&marks->regions, marked) {
		vec_for_each (&marked->probes, probe)
			if (marked->on.items[probe - marked->probes.items]) {
				rc = note_jump(proc, probe->site, candidates, err);
				if (rc)
					return rc;
			}
		vec_for_each (&marked->switches, item) {
			rc = note_jump(proc, item->site, candidates, err);
			if (rc)
				return rc;
		}
	}
	return 0;
}

typedef VEC(const char *) name_vec;

/* Asks whether a function is wanted, and whether it is listened to. */
static int ask(const struct trace_request *request, struct listen_function *function,
	       struct candidate *candidate, bool *ret, struct uspl_err *err)
{
	const struct image *image = function->image;
	struct listen_plan *plan = request->listen;
	struct uspl_listen_site site = { 0 }, *place;
	auto_vec name_vec names = { 0 };
	bool wanted = false;
	int rc;

	/* The names of all symbols at the function's entry, which are neighbours. */
	for (size_t i = image_first_sym(image, candidate->entry);
	     i < image->syms.n && image->syms.items[i].addr == candidate->entry; i++) {
		const char **name = vec_push(&names);

		if (!name)
			return uspl_fail_nomem(err);
		*name = image->syms.items[i].name;
	}
	*ret = request->choice.function(request->choice.ctx, names.items, names.n);
	function->candidate = candidate;
	function->names = names.items;
	function->n_names = names.n;
	if (!*ret || !plan || !plan->choose)
		return 0;
	/* If it is listened to, the candidate refers to its site. */
	rc = plan->choose(plan->ctx, plan, function, &site, &wanted, err);
	if (rc || !wanted)
		return rc;
	if (plan->sites.n == USPL_LISTEN_SITES_MAX)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "more than %d functions can't be listened to at once",
				 USPL_LISTEN_SITES_MAX);
	place = vec_push(&plan->sites);
	if (!place)
		return uspl_fail_nomem(err);
	*place = site;
	candidate->listen = (uint32_t)plan->sites.n;
	return 0;
}

/* Those that aren't wanted are dropped. */
static int keep_wanted(struct listen_function *function, candidate_vec *candidates,
		       const struct trace_request *request, const struct marks *marks,
		       struct uspl_err *err)
{
	size_t n = 0;

	for (size_t i = 0; i < candidates->n; i++) {
		struct candidate *candidate = &candidates->items[i];
		bool wanted;
		int rc;

		if (candidate->kind == CANDIDATE_NONE ||
		    (candidate->entry_only && !request->entries) ||
		    marks_cover(marks, candidate->entry, candidate->len))
			continue;
		rc = ask(request, function, candidate, &wanted, err);
		if (rc)
			return rc;
		if (wanted)
			candidates->items[n++] = *candidate;
	}
	candidates->n = n;
	return 0;
}

int choose_candidates(const struct proc *proc, const struct module *module,
		      const region_vec *updates, const struct trace_request *request,
		      candidate_vec *ret, struct uspl_err *err)
{
	auto_marks struct marks marks = { 0 };
	auto_image struct image *image = NULL;
	auto_vec candidate_vec candidates = { 0 };
	struct listen_function function = { .module = module };
	int rc = marks_read(proc, &marks, err);

	if (rc)
		return rc;
	rc = overlay_bare_image(proc, module, updates, &marks, &image, err);
	if (rc)
		return rc;
	rc = candidates_find(image, &candidates, err);
	if (rc)
		return rc;
	rc = candidates_spare(proc, &candidates, err);
	if (rc)
		return rc;
	function.image = image;
	rc = keep_wanted(&function, &candidates, request, &marks, err);
	if (rc)
		return rc;
	rc = note_jumps(proc, updates, &marks, &candidates, err);
	if (rc)
		return rc;
	*ret = candidates;
	candidates = (candidate_vec){ 0 };
	return 0;
}
