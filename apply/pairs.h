/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pairs.h - which modules of a process the targets of an update are
 *
 * A module is a target if its build-id is one that the update names; else if its file name or
 * soname is the target's. In the second case it may be another build, and the match alone decides.
 * A library can be there more than once (dlmopen, two paths): each copy is a pair.
 */
#ifndef USPL_APPLY_PAIRS_H
#define USPL_APPLY_PAIRS_H

#include "live/region.h"
#include "match/match.h"
#include "proc/module.h"
#include "update/update.h"

/* A target of the update and a module of the process that it changes. */
struct pair {
	const struct update_target *target;
	const struct module *module;
	const module_vec *modules; /* all of the process */
	bool by_name;              /* it has none of the build-ids */
	bool done;                 /* the update is in effect in it */
	struct image *image;       /* with what is applied laid over it; after pairs_match */
	struct match *match;
};

typedef VEC(struct pair) pair_vec;
/* Modules that have a target's name and are another program. */
typedef VEC(const struct module *) module_list;

/* Finds all pairs. Those in which `regions` say that the update is in effect are done. */
int pairs_find(const struct update *update, const module_vec *modules, const region_vec *regions,
	       pair_vec *ret, struct uspl_err *err) uspl_must_check;
/* True if some module of the process is this target. */
bool pairs_have(const pair_vec *pairs, const struct update_target *target);
/* True if the update is in effect in every pair. */
bool pairs_done(const pair_vec *pairs);
/*
 * Matches every pair that isn't done. USPL_E_NO_MATCH if one with a named build-id doesn't, or if a
 * target that is there by its name only matches none of its modules; other modules of that name
 * that don't match are moved to ret_others.
 */
int pairs_match(const struct update *update, const struct proc *proc, const region_vec *regions,
		pair_vec *pairs, module_list *ret_others, struct uspl_err *err) uspl_must_check;
void pairs_release(pair_vec *pairs);

#endif
