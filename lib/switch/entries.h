/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * entries.h - entries that have to lead by way of a punned trampoline
 *
 * There are two sorts. A *short* entry is that of a function shorter than the jump, with the next
 * function right behind it: only its own bytes are replaced, and what stands behind them is part of
 * the jump. Or the new code is out of reach.
 *
 * So what stands behind a short entry mustn't change while the jump is there. An update that
 * changes it later is refused; one that changed it earlier can't be undone first (builds_on).
 * Entries of the same update there become short themselves, and all are written together.
 */
#ifndef USPL_SWITCH_ENTRIES_H
#define USPL_SWITCH_ENTRIES_H

#include "record/region_entry.h"
#include "switch/trampolines.h"

/* Entries that are part of a short one's jump become short. For a region with all its sites. */
void entries_cut(struct region *region);
/*
 * Refuses (USPL_E_UNSUPPORTED) a region one of whose sites is part of another update's short entry,
 * or has an interrupted update's site as part of its own.
 */
int entries_check(const region_vec *present, const struct region *region,
		  struct uspl_err *err) uspl_must_check;
/*
 * True if a site of the older region, which is in effect, is part of one of the region's entries.
 */
bool entries_lean_on(const struct region *region, const struct region *older);

/*
 * Plans the punned trampolines of all entries that have to have one, and for short ones the
 * trampolines, which the punned trampolines lead to; sets these sites' len, old_bytes, new_bytes
 * and entry. Nothing is touched; trampolines_load follows, if trampolines->items or
 * trampolines->punned.items has something. To be called with the sites' old bytes in their place.
 * USPL_E_UNSUPPORTED or USPL_E_OUT_OF_REACH, saying why, if there is no place. On failure
 * trampolines_release is to be called all the same.
 */
int entries_plan(struct trampolines *trampolines, const struct proc *proc,
		 const module_vec *modules, struct region *region,
		 struct uspl_err *err) uspl_must_check;

#endif
