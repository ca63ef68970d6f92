/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pairs.h - which modules of a process the targets of an update are
 *
 * A module is a target if its build-id is one that the update names; else if its file name or
 * soname is the target's, or, of the program, the name that it was started by. In these cases it
 * may be another build, and the match alone decides. So it is for a program that none of this
 * speaks for. A library can be there more than once (dlmopen, two paths): each copy is a pair.
 */
#ifndef USPL_MACHINE_PAIRS_H
#define USPL_MACHINE_PAIRS_H

#include "base/cleanup.h"
#include "command/report.h"
#include "match/match.h"
#include "proc/module.h"
#include "record/region.h"
#include "update/update.h"

/* What says that a module is a target. */
enum pair_by {
	PAIR_BY_BUILD_ID,
	PAIR_BY_NAME,  /* its own, without any of the build-ids */
	PAIR_BY_ALIAS, /* the name that it was started by */
	PAIR_BY_CODE,  /* nothing but the match */
};

/* A target of the update and a module of the process that it changes. */
struct pair {
	const struct update_target *target;
	const struct module *module;
	const module_vec *modules; /* all of the process */
	enum pair_by by;
	bool done;           /* the update is in effect in it */
	struct image *image; /* with what is applied laid over it; after pairs_match */
	struct match *match;
};

typedef VEC(struct pair) pair_vec;
/* Modules that have a target's name and are another program. */
typedef VEC(const struct module *) module_list;

/* Where pairs are looked for. */
struct pairs_scope {
	const struct update *update;
	const struct proc *proc;
	const module_vec *modules;
	const region_vec *own;      /* of the update: the live ones */
	const region_vec *others;   /* all others */
	const region_vec *replaced; /* those whose place the update takes, or NULL */
};

/*
 * Finds all pairs but one that only the match can tell. Those in which the update is in effect are
 * done.
 */
int pairs_find(const struct pairs_scope *scope, pair_vec *ret,
	       struct uspl_err *err) uspl_must_check;
/* True if some module of the process is this target. */
bool pairs_have(const pair_vec *pairs, const struct update_target *target);
/* True if the module is a target of some pair. */
bool pairs_have_module(const pair_vec *pairs, const struct module *module);
/* True if the update is in effect in every pair. */
bool pairs_done(const pair_vec *pairs);
/* The program, if it is in no pair, and may be a target all the same; else NULL. */
const struct module *pairs_unnamed(const struct pairs_scope *scope, const pair_vec *pairs);
/*
 * Matches every pair that isn't done. USPL_E_NO_MATCH if one with a named build-id doesn't, or if a
 * target that is there by its name only matches none of its modules; other modules of that name
 * that don't match are moved to ret_others. Adds the program that pairs_unnamed tells, if its code
 * is a target's.
 */
int pairs_match(const struct pairs_scope *scope, pair_vec *pairs, module_list *ret_others,
		struct uspl_err *err) uspl_must_check;
/* Adds a copy of the pair, which then owns what it points to. */
int pairs_add(pair_vec *pairs, const struct pair *pair, struct uspl_err *err) uspl_must_check;
/*
 * Adds to the report what has decided that the module is one that the update is for, where that
 * wasn't its build-id.
 */
int pair_remark(const struct pair *pair, pid_t pid, struct report *report,
		struct uspl_err *err) uspl_must_check;
/* True if the module's file name or soname is the target's. */
bool pair_has_name(const struct update_target *target, const struct module *module);
/* Frees the pair's match and image. */
void pair_release(struct pair *pair);
void pairs_release(pair_vec *pairs);
DEFINE_AUTO_RELEASE(pairs, pair_vec, pairs_release)
#define auto_pairs __attribute__((cleanup(cleanup_pairs_)))

#endif
