// SPDX-License-Identifier: GPL-3.0-or-later
// lacks.c - whether a process runs what updates are for, and which it lacks

#include "machine/lacks.h"

#include "machine/pairs.h"
#include "record/region_status.h"

/* An update that is switched only in part is lacking. */
static bool is_in_effect(const region_vec *regions, const char *id)
{
	const struct region *region;

	vec_for_each (regions, region)
		if (region_has_id(region, id) && region_is_live(region) &&
		    (region->gone || region->state != USPL_REGION_APPLIED))
			return false;
	return true;
}

int lacks_update(const update_vec *updates, struct proc *proc, enum search_answer *ret,
		 struct uspl_err *err)
{
	auto_modules module_vec modules = { 0 };
	auto_regions region_vec regions = { 0 };
	struct update *const *update;
	int rc = modules_read(proc, &modules, err);

	if (rc)
		return rc;
	rc = regions_read(proc, &regions, err);
	if (rc)
		return rc;
	region_status_find_gone(proc, &modules, &regions);
	*ret = SEARCH_OTHER;
	vec_for_each (updates, update) {
		const struct pairs_scope scope = {
			.update = *update,
			.proc = proc,
			.modules = &modules,
			.own = &regions,
			.others = &regions,
		};
		auto_pairs pair_vec pairs = { 0 };

		rc = pairs_find(&scope, &pairs, err);
		if (rc)
			return rc;
		if (!pairs.n)
			continue;
		if (!pairs_done(&pairs) || !is_in_effect(&regions, (*update)->id))
			*ret = SEARCH_OPEN;
		else if (*ret == SEARCH_OTHER)
			*ret = SEARCH_DONE;
	}
	return 0;
}
