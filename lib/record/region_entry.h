/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * region_entry.h - short entries of updates in effect: their punned trampolines, and the bytes
 * behind them
 *
 * entries.h says what a short entry is, and makes them.
 */
#ifndef USPL_RECORD_REGION_ENTRY_H
#define USPL_RECORD_REGION_ENTRY_H

#include "record/region.h"

/*
 * Where to write what redirects the function at `entry` once more: at the entry, or, if an update
 * in effect has a short entry there, at its punned trampoline.
 */
taddr region_entry_place(const region_vec *present, taddr entry);
/* The other way round: the entry whose punned trampoline that is, or the address itself. */
taddr region_entry_origin(const region_vec *present, taddr addr);
/* Is any of [addr, addr + len) behind the site's own bytes, and yet part of its jump? */
bool region_site_leans_on(const struct region_site *site, taddr addr, uint64_t len);
/* The update in effect whose short entry a place is part of, or NULL. */
const struct region *region_entry_user(const region_vec *present, taddr addr, uint64_t len,
				       const struct region_site **ret_site);

#endif
