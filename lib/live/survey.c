// SPDX-License-Identifier: GPL-3.0-or-later
// survey.c - what is in effect of the updates that a process holds records of

#include "live/survey.h"

#include <string.h>

static bool is_module_of(const struct region *region, const struct module *module)
{
	const char *build_id = region->build_id ? region->build_id : "";

	if (build_id[0] && module->build_id)
		return !strcmp(build_id, module->build_id);
	return !strcmp(region->module_name, module->name);
}

static bool module_is_there(const module_vec *modules, const struct region *region)
{
	const struct module *module;

	vec_for_each (modules, module)
		if (module->start == region->module)
			return is_module_of(region, module);
	return false;
}

/* True if every entry has its old bytes: the module was unloaded, and loaded in the same place. */
static bool has_old_code(const struct proc *proc, const struct region *region)
{
	const struct region_site *site;
	uint8_t have[USPL_SITE_BYTES_MAX];

	vec_for_each (&region->sites, site)
		if (proc_read_some(proc, site->addr, have, site->len) != site->len ||
		    memcmp(have, site->old_bytes, site->len))
			return false;
	return region->sites.n;
}

void survey_modules(const struct proc *proc, const module_vec *modules, region_vec *regions)
{
	struct region *region;

	vec_for_each (regions, region)
		if (region_is_live(region))
			region->gone = !module_is_there(modules, region) ||
				       (region->state == USPL_REGION_APPLIED &&
					has_old_code(proc, region));
}

const struct region *survey_region_of(const region_vec *regions, const char *id,
				      const struct module *module)
{
	const struct region *region;

	vec_for_each (regions, region)
		if (region_has_id(region, id) && region_is_live(region) &&
		    region->module == module->start)
			return region;
	return NULL;
}

static int add_pending(struct survey *survey, const char *name, struct uspl_err *err)
{
	char **item;

	vec_for_each (&survey->pending, item)
		if (!strcmp(*item, name))
			return 0;
	item = vec_push(&survey->pending);
	if (item)
		*item = strdup(name);
	return item && *item ? 0 : uspl_fail_nomem(err);
}

/* True if the update is in effect in another copy of the library that the region was for. */
static bool is_elsewhere(const region_vec *regions, const struct region *lost)
{
	const struct region *region;

	vec_for_each (regions, region)
		if (region_is_live(region) && region_has_id(region, lost->id) &&
		    !strcmp(region->module_name, lost->module_name))
			return true;
	return false;
}

/* A copy of a changed module that has been loaded since: known by its build-id alone. */
static bool is_new_copy(const region_vec *regions, const char *id, const struct module *module)
{
	const struct region *region;

	if (!module->build_id || survey_region_of(regions, id, module))
		return false;
	vec_for_each (regions, region)
		if (region_has_id(region, id) && region->build_id &&
		    !strcmp(region->build_id, module->build_id))
			return true;
	return false;
}

static int find_pending(const module_vec *modules, const region_vec *regions, const char *id,
			struct survey *survey, struct uspl_err *err)
{
	const struct module *module;
	const struct region *region;
	int rc = 0;

	vec_for_each (modules, module)
		if (!rc && is_new_copy(regions, id, module))
			rc = add_pending(survey, module->name, err);
	vec_for_each (regions, region)
		if (!rc && region_has_id(region, id) && region_is_wanted(region) &&
		    !region_is_live(region) && !is_elsewhere(regions, region))
			rc = add_pending(survey, region->module_name, err);
	return rc;
}

/* The words of an update's regions, the one that says most first. */
static enum uspl_region_state state_of(const struct region *region)
{
	return region->gone ? USPL_REGION_PENDING : region->state;
}

static unsigned int weight(enum uspl_region_state state)
{
	static const unsigned int weights[] = {
		[USPL_REGION_UNDONE] = 1,       [USPL_REGION_LOADED] = 2,
		[USPL_REGION_PENDING] = 3,      [USPL_REGION_APPLIED] = 4,
		[USPL_REGION_SWITCHING_ON] = 5, [USPL_REGION_SWITCHING_OFF] = 5,
	};

	return weights[state];
}

int survey_update(const module_vec *modules, const region_vec *regions, const char *id,
		  struct survey *ret, struct uspl_err *err)
{
	enum uspl_region_state state = 0;
	struct survey survey = { 0 };
	const struct region *region;
	int rc = 0;

	vec_for_each (regions, region) {
		if (!region_has_id(region, id))
			continue;
		if (weight(state_of(region)) > weight(state))
			state = state_of(region);
		survey.wanted |= region_is_wanted(region);
	}
	survey.state = region_state_word(state);
	vec_for_each (regions, region) {
		if (rc || !region_has_id(region, id) || (survey.wanted && !region_is_live(region)))
			continue;
		if (region->applied_at > survey.applied_at)
			survey.applied_at = region->applied_at;
		rc = region_list_add(&survey.regions, region, err);
	}
	if (!rc && survey.wanted)
		rc = find_pending(modules, regions, id, &survey, err);
	if (rc)
		survey_release(&survey);
	else
		*ret = survey;
	return rc;
}

void survey_release(struct survey *survey)
{
	char **name;

	vec_for_each (&survey->pending, name)
		free(*name);
	vec_release(&survey->regions);
	vec_release(&survey->pending);
}
