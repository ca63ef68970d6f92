// SPDX-License-Identifier: GPL-3.0-or-later
// base.c - whether a process has the updates that an update was made on top of

#include "apply/base.h"

#include <string.h>

/* The function of the target that the region has replaced; NULL if there is none. */
static const char *changed_function(const struct region *region, const struct update_target *target,
				    const char *function)
{
	const struct update_function *changed;
	const struct region_site *site;

	vec_for_each (&region->sites, site) {
		if (function && !strcmp(site->name, function))
			return site->name;
		vec_for_each (&target->functions, changed)
			if (!function && !strcmp(changed->name, site->name))
				return site->name;
	}
	return NULL;
}

static bool explain_missing(const struct update *update, taddr module, const region_vec *others,
			    struct uspl_err *err)
{
	const struct region *region;
	char *const *id;

	vec_for_each (&update->after, id) {
		bool applied = false;

		vec_for_each (others, region)
			applied |= region->module == module && region_has_id(region, *id) &&
				   region_is_live(region);
		if (applied)
			continue;
		uspl_context(err, "the update was made on top of '%s', which isn't applied", *id);
		uspl_hint(err, "apply '%s' first", *id);
		return true;
	}
	return false;
}

bool base_explain(const struct update *update, const struct update_target *target, taddr module,
		  const region_vec *others, const char *function, struct uspl_err *err)
{
	const struct region *region;

	vec_for_each (others, region) {
		if (region->module != module || !region_is_live(region) ||
		    !strvec_has(&update->replaces, region->id))
			continue;
		uspl_context(err, "the update takes the place of '%s', which is applied",
			     region->id);
		uspl_hint(err, "apply it with '--replace'");
		return true;
	}
	if (explain_missing(update, module, others, err))
		return true;
	vec_for_each (others, region) {
		const char *name = changed_function(region, target, function);

		if (!name || region->module != module || !region_is_live(region) ||
		    strvec_has(&update->after, region->id))
			continue;
		uspl_context(err,
			     "the update '%s' has changed '%s', and this one was made without it",
			     region->id, name);
		uspl_hint(err,
			  "undo '%s' first, or make the update again from the source that has it",
			  region->id);
		return true;
	}
	return false;
}
