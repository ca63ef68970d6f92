// SPDX-License-Identifier: GPL-3.0-or-later
// region.c - what is known of an update in a process

#include "record/region.h"

#include <string.h>

#include "arch/arch.h"
#include "base/text.h"

static const struct {
	const char *selector;
	bool live;   /* an entry may hold a jump */
	bool wanted; /* the update is to be in effect */
} states[] = {
	[0] = { "unknown", false, false },
	[USPL_REGION_LOADED] = { "loaded", false, false },
	[USPL_REGION_SWITCHING_ON] = { "interrupted", true, true },
	[USPL_REGION_APPLIED] = { "applied", true, true },
	[USPL_REGION_SWITCHING_OFF] = { "interrupted", true, true },
	[USPL_REGION_UNDONE] = { "undone", false, false },
	[USPL_REGION_PENDING] = { "pending", false, true },
};

bool region_is_live(const struct region *region)
{
	return states[region->state].live && !region->gone;
}

bool region_is_interrupted(const struct region *region)
{
	return region->state == USPL_REGION_SWITCHING_ON ||
	       region->state == USPL_REGION_SWITCHING_OFF;
}

bool region_is_wanted(const struct region *region)
{
	return states[region->state].wanted;
}

const char *region_state_name(enum uspl_region_state state)
{
	return states[(size_t)state < ARRAY_SIZE(states) ? state : 0].selector;
}

bool region_builds_on(const struct region *region, const char *id)
{
	return region->builds_on && text_has_word(region->builds_on, ' ', id);
}

bool region_replaces(const struct region *region, const char *id)
{
	return region->replaces && text_has_word(region->replaces, ' ', id);
}

bool region_has_id(const struct region *region, const char *id)
{
	return !strcmp(region->id, id);
}

taddr region_site_entry(const struct region_site *site)
{
	return site->recorded.addr ? site->recorded.addr : site->addr;
}

bool region_site_is_short(const struct region_site *site)
{
	return site->len < arch_native()->jump_len;
}

int region_range_add(region_range_vec *ranges, const char *name, taddr addr, uint64_t size,
		     struct uspl_err *err)
{
	struct region_range *range = vec_push(ranges);

	if (!range)
		return uspl_fail_nomem(err);
	range->addr = addr;
	range->size = size;
	range->name = strdup(name);
	return range->name ? 0 : uspl_fail_nomem(err);
}

const struct region_range *regions_function_at(const region_vec *regions, taddr addr,
					       const struct region **ret_region)
{
	const struct region_range *function;
	const struct region *region;

	vec_for_each (regions, region)
		vec_for_each (&region->names, function)
			if (addr - function->addr < function->size) {
				*ret_region = region;
				return function;
			}
	return NULL;
}

int region_hook_add(struct region *region, const char *name, enum uspl_hook_kind kind,
		    struct uspl_err *err)
{
	struct region_hook *hook = vec_push(&region->hooks);

	if (!hook)
		return uspl_fail_nomem(err);
	hook->kind = kind;
	hook->name = strdup(name);
	return hook->name ? 0 : uspl_fail_nomem(err);
}

static void release_ranges(region_range_vec *ranges)
{
	struct region_range *range;

	vec_for_each (ranges, range)
		free(range->name);
	vec_release(ranges);
}

void region_release(struct region *region)
{
	struct region_site *site;
	struct region_hook *hook;
	struct region_datum *datum;

	vec_for_each (&region->data_values, datum)
		free(datum->name);
	vec_release(&region->data_values);
	vec_for_each (&region->sites, site)
		free(site->name);
	vec_for_each (&region->hooks, hook)
		free(hook->name);
	vec_release(&region->sites);
	vec_release(&region->hooks);
	release_ranges(&region->ranges);
	release_ranges(&region->names);
	free(region->description);
	free(region->module_name);
	free(region->patch);
	free(region->build_id);
	free(region->builds_on);
	free(region->digest);
	free(region->signer);
	free(region->replaces);
	free(region->states);
	*region = (struct region){ 0 };
}

int region_list_add(region_list *list, const struct region *region, struct uspl_err *err)
{
	const struct region **item = vec_push(list);

	if (!item)
		return uspl_fail_nomem(err);
	*item = region;
	return 0;
}

void regions_release(region_vec *regions)
{
	struct region *region;

	vec_for_each (regions, region)
		region_release(region);
	vec_release(regions);
}
