// SPDX-License-Identifier: GPL-3.0-or-later
// region_status.c - what is in effect of the updates that a process holds records of

#include "record/region_status.h"

#include <string.h>

#include "base/strmap.h"

static bool module_is_there(const module_vec *modules, const struct region *region)
{
	const char *build_id = region->build_id ? region->build_id : "";
	const struct module *module;

	vec_for_each (modules, module) {
		if (module->start != region->module)
			continue;
		if (build_id[0] && module->build_id)
			return !strcmp(build_id, module->build_id);
		return !strcmp(region->module_name, module->name);
	}
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

void region_status_find_gone(const struct proc *proc, const module_vec *modules,
			     region_vec *regions)
{
	struct region *region;

	vec_for_each (regions, region)
		if (region_is_live(region))
			region->gone = !module_is_there(modules, region) ||
				       (region->state == USPL_REGION_APPLIED &&
					has_old_code(proc, region));
}

const struct region *region_status_region_of(const region_vec *regions, const char *id,
					     const struct module *module)
{
	const struct region *region;

	vec_for_each (regions, region)
		if (region_has_id(region, id) && region_is_live(region) &&
		    region->module == module->start)
			return region;
	return NULL;
}

/* What is found of one update. */
struct finding {
	struct region_status status;
	region_list own;      /* its records */
	struct strmap listed; /* the names that are in survey.pending */
};

static int add_pending(struct finding *finding, const char *name, struct uspl_err *err)
{
	if (strmap_get(&finding->listed, name))
		return 0;
	return strvec_add(&finding->status.pending, name) &&
			       strmap_set(&finding->listed, name, finding)
		       ? 0
		       : uspl_fail_nomem(err);
}

/* True if the update is in effect in another copy of the library that the region was for. */
static bool is_elsewhere(const region_list *own, const struct region *lost)
{
	const struct region **region;

	vec_for_each (own, region)
		if (region_is_live(*region) && !strcmp((*region)->module_name, lost->module_name))
			return true;
	return false;
}

/* A copy of a changed module that was loaded later: known by its build-id alone. */
static bool is_new_copy(const region_list *own, const struct module *module)
{
	const struct region **region;
	bool is_known = false;

	if (!module->build_id)
		return false;
	vec_for_each (own, region) {
		if (region_is_live(*region) && (*region)->module == module->start)
			return false;
		is_known |= (*region)->build_id && !strcmp((*region)->build_id, module->build_id);
	}
	return is_known;
}

static int find_pending(const module_vec *modules, struct finding *finding, struct uspl_err *err)
{
	const struct module *module;
	const struct region **region;
	int rc;

	vec_for_each (modules, module) {
		rc = is_new_copy(&finding->own, module) ? add_pending(finding, module->name, err)
							: 0;
		if (rc)
			return rc;
	}
	vec_for_each (&finding->own, region) {
		if (!region_is_wanted(*region) || region_is_live(*region) ||
		    is_elsewhere(&finding->own, *region))
			continue;
		rc = add_pending(finding, (*region)->module_name, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* A region's state; of several regions, the one with the highest weight is shown. */
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

static int find_own(const region_vec *regions, const char *id, struct finding *finding,
		    struct uspl_err *err)
{
	struct region_status *status = &finding->status;
	enum uspl_region_state state = 0;
	const struct region *region;

	vec_for_each (regions, region) {
		int rc;

		if (!region_has_id(region, id))
			continue;
		if (weight(state_of(region)) > weight(state))
			state = state_of(region);
		status->wanted |= region_is_wanted(region);
		status->between |= region->between;
		if (region->threads_left > status->threads_left)
			status->threads_left = region->threads_left;
		rc = region_list_add(&finding->own, region, err);
		if (rc)
			return rc;
	}
	status->state = region_state_name(state);
	return 0;
}

static int look(const module_vec *modules, struct finding *finding, struct uspl_err *err)
{
	struct region_status *status = &finding->status;
	const struct region **region;

	vec_for_each (&finding->own, region) {
		int rc;

		if (status->wanted && !region_is_live(*region))
			continue;
		if ((*region)->applied_at > status->applied_at)
			status->applied_at = (*region)->applied_at;
		rc = region_list_add(&status->regions, *region, err);
		if (rc)
			return rc;
	}
	return status->wanted ? find_pending(modules, finding, err) : 0;
}

int region_status_read(const module_vec *modules, const region_vec *regions, const char *id,
		       struct region_status *ret, struct uspl_err *err)
{
	struct finding finding = { 0 };
	int rc = find_own(regions, id, &finding, err);

	if (!rc)
		rc = look(modules, &finding, err);
	if (rc)
		region_status_release(&finding.status);
	else
		*ret = finding.status;
	vec_release(&finding.own);
	strmap_release(&finding.listed);
	return rc;
}

void region_status_release(struct region_status *status)
{
	vec_release(&status->regions);
	strvec_release(&status->pending);
}
