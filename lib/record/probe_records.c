// SPDX-License-Identifier: GPL-3.0-or-later
// probe_records.c - which markers are on in a process, as its own memory says

#include "record/probe_records.h"

#include <string.h>

#include "arch/arch.h"
#include "record/registry.h"

#define CHAIN_MAX 1024

static bool are_sound(const struct mark_region *region)
{
	const struct uspl_probe *probe;

	vec_for_each (&region->probes, probe) {
		if (probe->n_args > USPL_PROBE_ARGS_MAX || !probe->slots ||
		    probe->old_len > USPL_MARK_OLD_MAX)
			return false;
		for (size_t i = 0; i < probe->n_args; i++)
			if (probe->args[i].slot + (uint32_t)probe->args[i].slots > probe->slots ||
			    probe->args[i].slot >= probe->slots ||
			    probe->args[i].offset + probe->args[i].width > USPL_MARK_SLOT_ROOM)
				return false;
	}
	return true;
}

static int read_region(const struct proc *proc, const struct record *record, struct marks *marks,
		       struct uspl_err *err)
{
	const struct uspl_mark_region *head = &record->head.probes;
	struct mark_region *region = vec_push(&marks->regions);
	int rc = proc_charge(proc, 1 + head->info_len / PAGE, 4 * head->info_len, err);

	if (!region)
		return uspl_fail_nomem(err);
	if (rc)
		return rc;
	region->head = *head;
	region->info = calloc(1, head->info_len + 1);
	for (uint32_t i = 0; i < head->n_probes; i++)
		if (!vec_push(&region->probes) || !vec_push(&region->on))
			return uspl_fail_nomem(err);
	for (uint32_t i = 0; i < head->n_switches; i++)
		if (!vec_push(&region->switches))
			return uspl_fail_nomem(err);
	if (!region->info)
		return uspl_fail_nomem(err);
	rc = registry_read(proc, record, 0, region->info, head->info_len, err);
	if (rc)
		return rc;
	if (head->n_probes)
		memcpy(region->probes.items, region->info + head->probes,
		       head->n_probes * sizeof(*region->probes.items));
	if (head->n_switches)
		memcpy(region->switches.items, region->info + head->switches,
		       head->n_switches * sizeof(*region->switches.items));
	return are_sound(region) ? 0 : registry_fail_damaged(proc, RECORD_PROBES, head->self, err);
}

static int by_addr(const void *a, const void *b)
{
	const struct mark_place *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->region != y->region)
		return x->region < y->region ? -1 : 1;
	return x->probe < y->probe ? -1 : x->probe > y->probe;
}

static int add_place(struct marks *marks, taddr addr, size_t region, size_t probe,
		     struct uspl_err *err)
{
	struct mark_place *place = vec_push(&marks->places);

	if (!place)
		return uspl_fail_nomem(err);
	*place = (struct mark_place){ addr, region, probe };
	return 0;
}

/* Where jumps to probes lead, for marks_at. */
static int index_places(struct marks *marks, struct uspl_err *err)
{
	for (size_t i = 0; i < marks->regions.n; i++) {
		const struct mark_region *region = &marks->regions.items[i];

		for (size_t j = 0; j < region->probes.n; j++) {
			const struct uspl_probe *probe = &region->probes.items[j];
			int rc = add_place(marks, probe->thunk, i, j, err);

			if (!rc && probe->inner)
				rc = add_place(marks, probe->inner, i, j, err);
			if (rc)
				return rc;
		}
	}
	if (marks->places.n)
		qsort(marks->places.items, marks->places.n, sizeof(*marks->places.items), by_addr);
	return 0;
}

int marks_read(const struct proc *proc, struct marks *ret, struct uspl_err *err)
{
	auto_marks struct marks marks = { 0 };
	struct registry registry;
	struct record record;
	int rc;

	registry_begin(&registry, proc, RECORD_PROBES);
	while ((rc = registry_next(&registry, &record, err)) > 0) {
		rc = read_region(proc, &record, &marks, err);
		if (rc)
			return rc;
	}
	if (rc)
		return rc;
	rc = trace_session_read(proc, &marks.traced, err);
	if (rc)
		return rc;
	rc = index_places(&marks, err);
	if (rc)
		return rc;
	marks_walk(proc, &marks);
	/* A walk that was broken off has left out what is on. */
	rc = proc_charge(proc, 0, 0, err);
	if (rc)
		return rc;
	*ret = marks;
	marks = (struct marks){ 0 };
	return 0;
}

void mark_region_release(struct mark_region *region)
{
	free(region->info);
	vec_release(&region->probes);
	vec_release(&region->switches);
	vec_release(&region->on);
}

void marks_release(struct marks *marks)
{
	struct mark_region *region;

	vec_for_each (&marks->regions, region)
		mark_region_release(region);
	vec_release(&marks->regions);
	vec_release(&marks->places);
	trace_session_release(&marks->traced);
}

const struct uspl_probe *marks_at(const struct marks *marks, taddr to,
				  const struct mark_region **ret_region)
{
	size_t i = vec_lower_bound(&marks->places, it, it->addr < to);
	const struct mark_place *place = &marks->places.items[i];

	if (i == marks->places.n || place->addr != to)
		return NULL;
	*ret_region = &marks->regions.items[place->region];
	return &(*ret_region)->probes.items[place->probe];
}

taddr mark_target(const struct proc *proc, taddr addr)
{
	uint8_t bytes[USPL_TRACE_SITE_BYTES];

	if (proc_charge(proc, 1, 0, NULL) ||
	    proc_read_some(proc, addr, bytes, sizeof(bytes)) != sizeof(bytes))
		return 0;
	return arch_native()->jump_target(addr, bytes, sizeof(bytes));
}

taddr marks_head(const struct proc *proc, const struct marks *marks, taddr site)
{
	const struct uspl_trace_site *traced = trace_session_site_on(proc, &marks->traced, site);

	return traced ? traced->body : site;
}

const struct uspl_probe *marks_step(const struct proc *proc, const struct marks *marks, taddr site,
				    taddr *at, const struct mark_region **ret_region)
{
	taddr to = marks->places.n ? mark_target(proc, *at) : 0;
	const struct uspl_probe *probe = to ? marks_at(marks, to, ret_region) : NULL;

	if (!probe || probe->site != site)
		return NULL;
	*at = probe->chain_slot;
	return probe;
}

const struct uspl_probe *marks_last(const struct proc *proc, const struct marks *marks, taddr site)
{
	const struct uspl_probe *probe, *last = NULL, *met = NULL;
	const struct mark_region *region;
	taddr at = marks_head(proc, marks, site);

	for (int i = 0; i < CHAIN_MAX; i++) {
		probe = marks_step(proc, marks, site, &at, &region);
		/* Met again: a chain that leads back into itself has no last probe. */
		if (!probe || probe == met)
			break;
		if (!(i & (i - 1)))
			met = probe;
		last = probe;
	}
	return last;
}

taddr marks_innermost(const struct proc *proc, const struct marks *marks, taddr site,
		      uint8_t ret_none[USPL_TRACE_SITE_BYTES])
{
	const struct uspl_probe *last = marks_last(proc, marks, site);

	if (last) {
		(void)arch_native()->jump_encode(last->chain_slot, last->end, ret_none);
		return last->chain_slot;
	}
	(void)arch_native()->nop_encode(ret_none, USPL_TRACE_SITE_BYTES);
	return marks_head(proc, marks, site);
}

/* Follows the chain from a site on, and notes the probes that it meets. */
static void walk(const struct proc *proc, struct marks *marks, taddr site)
{
	taddr at = marks_head(proc, marks, site);

	for (int i = 0; i < CHAIN_MAX; i++) {
		const struct mark_region *region;
		const struct uspl_probe *probe = marks_step(proc, marks, site, &at, &region);

		/* The rest of the chain has been walked already. */
		if (!probe || region->on.items[probe - region->probes.items])
			return;
		region->on.items[probe - region->probes.items] = true;
	}
}

void marks_walk(const struct proc *proc, struct marks *marks)
{
	struct mark_region *region;
	const struct uspl_probe *probe;

	vec_for_each (&marks->regions, region)
		if (region->on.n)
			memset(region->on.items, 0, region->on.n * sizeof(*region->on.items));
	vec_for_each (&marks->regions, region) {
		taddr last = 0;

		vec_for_each (&region->probes, probe) {
			/* The probes of one site stand behind each other. */
			if (!region->on.items[probe - region->probes.items] && probe->site != last)
				walk(proc, marks, probe->site);
			last = probe->site;
		}
	}
}

bool marks_are_on(const struct marks *marks)
{
	const struct mark_region *region;

	vec_for_each (&marks->regions, region)
		for (size_t i = 0; i < region->on.n; i++)
			if (region->on.items[i])
				return true;
	return false;
}

static bool overlaps(taddr jump, taddr addr, uint64_t len)
{
	return jump < addr + len && jump + USPL_TRACE_SITE_BYTES > addr;
}

bool marks_cover(const struct marks *marks, taddr entry, uint64_t len)
{
	const struct mark_region *region;
	const struct uspl_mark_switch *item;

	vec_for_each (&marks->regions, region) {
		for (size_t i = 0; i < region->on.n; i++)
			if (region->on.items[i] && region->probes.items[i].site != entry &&
			    overlaps(region->probes.items[i].site, entry, len))
				return true;
		vec_for_each (&region->switches, item)
			if (item->site != entry && overlaps(item->site, entry, len))
				return true;
	}
	return false;
}

/* The probes that begin at `but` don't count. */
static bool jumps_in(const struct proc *proc, const struct marks *marks,
		     const struct mark_region *region, taddr addr, uint64_t len, taddr but)
{
	const struct uspl_mark_switch *item;
	uint8_t none[USPL_TRACE_SITE_BYTES];

	for (size_t i = 0; i < region->on.n; i++)
		if (region->on.items[i] && region->probes.items[i].site != but &&
		    overlaps(region->probes.items[i].site, addr, len))
			return true;
	vec_for_each (&region->switches, item)
		if (overlaps(item->site, addr, len) &&
		    mark_target(proc, marks_innermost(proc, marks, item->site, none)) == item->on)
			return true;
	return false;
}

bool marks_jump_in(const struct proc *proc, const struct marks *marks, taddr addr, uint64_t len)
{
	const struct mark_region *region;

	vec_for_each (&marks->regions, region)
		if (jumps_in(proc, marks, region, addr, len, 0))
			return true;
	return false;
}

int marks_refuse_at(const struct proc *proc, const struct marks *marks, const char *function,
		    taddr entry, uint64_t len, struct uspl_err *err)
{
	const struct mark_region *region;
	taddr but = len < USPL_TRACE_SITE_BYTES ? 0 : entry;

	vec_for_each (&marks->regions, region) {
		if (!jumps_in(proc, marks, region, entry, len, but))
			continue;
		uspl_fail(err, USPL_E_CONFLICT, "'%s' begins with a marker that is on", function);
		uspl_hint(err, "'uspl-trace mark %d off%s%s' ends its session", proc->pid,
			  region->head.session[0] ? " --session=" : "", region->head.session);
		return -USPL_E_CONFLICT;
	}
	return 0;
}

/* The image is ours, and so are its bytes. */
static void unpatch(struct image *image, taddr addr, const uint8_t *bytes, size_t len)
{
	uint8_t *at = (uint8_t *)image_bytes(image, addr, len);

	if (at)
		memcpy(at, bytes, len);
}

void marks_unpatch_image(const struct proc *proc, const struct marks *marks, struct image *image)
{
	const struct mark_region *region;
	const struct uspl_mark_switch *item;
	uint8_t nop[USPL_TRACE_SITE_BYTES];

	(void)arch_native()->nop_encode(nop, sizeof(nop));
	vec_for_each (&marks->regions, region) {
		for (size_t i = 0; i < region->on.n; i++)
			if (region->on.items[i])
				unpatch(image, region->probes.items[i].site,
					region->probes.items[i].old_bytes, USPL_TRACE_SITE_BYTES);
		vec_for_each (&region->switches, item)
			if (mark_target(proc, item->site) == item->on)
				unpatch(image, item->site, nop, sizeof(nop));
	}
}

const char *mark_text(const struct mark_region *region, uint32_t offset)
{
	return offset < region->head.info_len ? region->info + offset : "";
}

const struct uspl_probe *marks_probe(const struct marks *marks, const char *session, uint32_t id,
				     const struct mark_region **ret_region)
{
	const struct mark_region *region;

	vec_for_each (&marks->regions, region)
		if (!strcmp(region->head.session, session) && id >= region->head.first_id &&
		    id - region->head.first_id < region->probes.n) {
			*ret_region = region;
			return &region->probes.items[id - region->head.first_id];
		}
	return NULL;
}

const struct mark_region *marks_session(const struct marks *marks, const char *session)
{
	const struct mark_region *region;

	vec_for_each (&marks->regions, region)
		if (!strcmp(region->head.session, session))
			return region;
	return NULL;
}

struct uspl_mark_cuts marks_cuts(const struct proc *proc, const struct marks *marks,
				 const char *session)
{
	struct uspl_mark_cuts all = { 0 }, cuts;
	const struct mark_region *region;

	vec_for_each (&marks->regions, region) {
		if (region->head.data_len < sizeof(cuts) ||
		    strcmp(region->head.session, session) != 0 ||
		    proc_read_some(proc, region->head.data, &cuts, sizeof(cuts)) != sizeof(cuts))
			continue;
		all.runs += cuts.runs;
		all.passed += cuts.passed;
	}
	return all;
}
