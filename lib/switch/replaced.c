// SPDX-License-Identifier: GPL-3.0-or-later
// replaced.c - updates whose place another one takes, in the same switch

#include "switch/replaced.h"

#include <string.h>

#include "switch/trampolines.h"

/* The site of one of these regions at an entry: the first one or the last one that has it. */
static const struct region_site *find_site(struct region *const *regions, size_t n, taddr entry,
					   bool last, const struct region **ret_region)
{
	for (size_t i = 0; i < n; i++) {
		const struct region *region = regions[last ? n - 1 - i : i];
		const struct region_site *site;

		vec_for_each (&region->sites, site)
			if (region_site_entry(site) == entry) {
				*ret_region = region;
				return site;
			}
	}
	return NULL;
}

/*
 * The next entry that goes back to what it was, with the newest and the oldest of its sites; false
 * if there is no other. *i and *j count regions and sites, and begin at 0.
 */
static bool next_back(const struct transition *t, size_t *i, size_t *j, struct site *ret)
{
	for (; *i < t->n_replaced; (*i)++, *j = 0)
		while (*j < t->replaced[*i]->sites.n) {
			const struct region_site *newest = &t->replaced[*i]->sites.items[(*j)++];
			taddr entry = region_site_entry(newest);
			const struct region_site *oldest;
			const struct region *region;

			if (find_site(t->regions, t->n_regions, entry, false, &region) ||
			    find_site(t->replaced, t->n_replaced, entry, true, &region) != newest)
				continue;
			oldest = find_site(t->replaced, t->n_replaced, entry, false, &region);
			*ret = (struct site){ .name = newest->name,
					      .addr = newest->addr,
					      .len = newest->len };
			memcpy(ret->from, newest->new_bytes, sizeof(ret->from));
			memcpy(ret->to, oldest->old_bytes, sizeof(ret->to));
			ret->has_trampoline =
				trampolines_jump(t->replaced[*i], newest, ret->trampoline);
			return true;
		}
	return false;
}

int replaced_add_sites(const struct transition *t, struct site_plan *plan, struct uspl_err *err)
{
	size_t i = 0, j = 0;
	struct site site;

	while (next_back(t, &i, &j, &site)) {
		int rc = site_plan_add(plan, &site, err);

		if (rc)
			return rc;
	}
	return 0;
}

int replaced_refuse_back(const struct transition *t, struct uspl_err *err)
{
	size_t i = 0, j = 0;
	struct site site;

	if (!next_back(t, &i, &j, &site))
		return 0;
	return uspl_fail(err, USPL_E_UNSUPPORTED,
			 "'%s' goes back to what it was before the replaced update", site.name);
}

/*
 * True if something has changed. The way by which the entry was led to its trampoline goes with the
 * jump that the trampoline has led back to.
 */
static bool take_old_bytes(const struct transition *t, struct region *region)
{
	const struct region *by;
	struct region_site *site;
	bool changed = false;

	vec_for_each (&region->sites, site) {
		const struct region_site *oldest =
			find_site(t->replaced, t->n_replaced, region_site_entry(site), false, &by);

		if (!oldest)
			continue;
		memcpy(site->old_bytes, oldest->old_bytes, sizeof(site->old_bytes));
		memcpy(site->recorded.old_bytes, oldest->recorded.old_bytes,
		       sizeof(site->recorded.old_bytes));
		changed = true;
		if (region_site_is_short(site))
			continue;
		site->entry = site->recorded.entry = USPL_ENTRY_PLAIN;
	}
	return changed;
}

/*
 * Where an entry has not become direct (no thread of the process could make the store), its
 * trampoline still decides, and knows the jump of a replaced update as what was there before.
 */
static int require_direct(const struct transition *t, const struct region *region,
			  struct uspl_err *err)
{
	const struct region_site *site;
	const struct region *by;

	vec_for_each (&region->sites, site)
		if (!region_site_is_short(site) &&
		    find_site(t->replaced, t->n_replaced, region_site_entry(site), false, &by) &&
		    trampolines_entry_form(t->proc, region, site) != ENTRY_DIRECT)
			return uspl_fail(err, USPL_E_SYSTEM,
					 "the entry of '%s' keeps the way through its trampoline",
					 site->name);
	return 0;
}

int replaced_settle(const struct transition *t, struct uspl_err *err)
{
	int rc;

	for (size_t i = 0; i < t->n_regions; i++) {
		rc = require_direct(t, t->regions[i], err);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < t->n_regions; i++) {
		rc = take_old_bytes(t, t->regions[i])
			     ? region_write_record(t->proc, t->regions[i], err)
			     : 0;
		if (rc)
			return rc;
	}
	/*
	 * No thread is in their trampolines, and none comes there any more. The newest first: of
	 * those that a dead tool leaves, the oldest still says what was there before all.
	 */
	for (size_t i = t->n_replaced; i--;) {
		rc = trampolines_write_selector(t->proc, t->replaced[i], USPL_SELECTOR_OLD, err);
		if (rc)
			return rc;
		rc = region_write_state(t->proc, t->replaced[i], USPL_REGION_UNDONE, err);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < t->n_regions; i++) {
		rc = region_write_state(t->proc, t->regions[i], USPL_REGION_APPLIED, err);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * The record of the update that says whose place it takes, while it is on its way in; NULL if it
 * isn't. All parts that one command has begun say the same.
 */
static const struct region *find_begun(const region_vec *regions, const char *id)
{
	const struct region *region;

	vec_for_each (regions, region) {
		/* Where hooks' turn has come, the state may not have followed yet. */
		bool begun = region->state == USPL_REGION_SWITCHING_ON ||
			     (region->phase && region->phase < USPL_HOOK_PRE_UNDO);

		if (begun && !region->gone && region_has_id(region, id))
			return region;
	}
	return NULL;
}

bool replaced_any(const region_vec *regions, const char *id)
{
	const struct region *by = find_begun(regions, id), *region;

	if (!by)
		return false;
	vec_for_each (regions, region)
		if (region_is_live(region) && region_replaces(by, region->id))
			return true;
	return false;
}

size_t replaced_find(region_vec *regions, const char *id, struct region **ret)
{
	const struct region *by = find_begun(regions, id);
	struct region *region;
	size_t n = 0;

	if (!by)
		return 0;
	vec_for_each (regions, region)
		if (region_is_live(region) && region_replaces(by, region->id))
			ret[n++] = region;
	return n;
}
