// SPDX-License-Identifier: GPL-3.0-or-later
// region_entry.c - short entries of updates in effect: their punned trampolines, and the bytes
// behind them

#include "record/region_entry.h"

#include "arch/arch.h"

bool region_site_leans_on(const struct region_site *site, taddr addr, uint64_t len)
{
	taddr from = site->addr + site->len, to = from + arch_native()->jump_len - 1;

	return region_site_is_short(site) && addr < to && addr + len > from;
}

taddr region_entry_place(const region_vec *present, taddr entry)
{
	const struct region_site *site;
	const struct region *region;

	vec_for_each (present, region)
		if (region_is_live(region))
			vec_for_each (&region->sites, site)
				if (site->addr == entry && region_site_is_short(site))
					return site->punned;
	return entry;
}

taddr region_entry_origin(const region_vec *present, taddr addr)
{
	const struct region_site *site;
	const struct region *region;

	vec_for_each (present, region)
		if (region_is_live(region))
			vec_for_each (&region->sites, site)
				if (site->punned == addr && region_site_is_short(site))
					return site->addr;
	return addr;
}

const struct region *region_entry_user(const region_vec *present, taddr addr, uint64_t len,
				       const struct region_site **ret_site)
{
	const struct region_site *site;
	const struct region *region;

	vec_for_each (present, region) {
		if (!region_is_live(region))
			continue;
		vec_for_each (&region->sites, site)
			if (region_site_leans_on(site, addr, len)) {
				*ret_site = site;
				return region;
			}
	}
	return NULL;
}
