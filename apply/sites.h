/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sites.h - which entries of a module an update redirects, and which code must be empty for that
 *
 * A function that an earlier update redirected already gets its new jump at the same place, its
 * original entry; the code that must be empty is then the earlier update's.
 */
#ifndef USPL_APPLY_SITES_H
#define USPL_APPLY_SITES_H

#include "match/match.h"
#include "record/region.h"
#include "update/update.h"

/* What the sites follow from. Everything is the caller's. */
struct sites_input {
	const struct proc *proc;
	const struct image *image; /* with the applied updates laid over it */
	const struct match *match;
	const struct update_target *target;
	const region_vec *present; /* the process's regions */
};

/*
 * Adds a site for each function of the target, in its order, without the new addresses; the ranges;
 * and the ids of the updates that this one builds on. USPL_E_UNSUPPORTED if a function has no room
 * for a jump, or if two functions have one entry.
 */
int sites_find(const struct sites_input *input, struct region *region,
	       struct uspl_err *err) uspl_must_check;

#endif
