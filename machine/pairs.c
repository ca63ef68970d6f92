// SPDX-License-Identifier: GPL-3.0-or-later
// pairs.c - which modules of a process the targets of an update are

#include "machine/pairs.h"

#include <string.h>

#include "base/strvec.h"
#include "proc/alias.h"
#include "record/region_status.h"

bool pair_has_name(const struct update_target *target, const struct module *module)
{
	return !strcmp(module->name, target->name) ||
	       (target->soname && module->soname && !strcmp(module->soname, target->soname));
}

/* True if the module is the target, as far as this way of telling goes. */
static bool is_target(const struct update_target *target, const struct module *module,
		      enum pair_by by, const strvec *aliases)
{
	switch (by) {
	case PAIR_BY_BUILD_ID:
		return module->build_id && strvec_has(&target->build_ids, module->build_id);
	case PAIR_BY_NAME:
		return pair_has_name(target, module);
	case PAIR_BY_ALIAS:
		return module->is_main && strvec_has(aliases, target->name);
	default:
		return false;
	}
}

bool pairs_have_module(const pair_vec *pairs, const struct module *module)
{
	const struct pair *pair;

	vec_for_each (pairs, pair)
		if (pair->module == module)
			return true;
	return false;
}

int pairs_add(pair_vec *pairs, const struct pair *pair, struct uspl_err *err)
{
	struct pair *item = vec_push(pairs);

	if (!item)
		return uspl_fail_nomem(err);
	*item = *pair;
	return 0;
}

/*
 * By build-ids first, which can't be mistaken; a name, which two targets of an update may share,
 * counts for what is left over.
 */
static int pair_all(const struct pairs_scope *scope, const strvec *aliases, pair_vec *pairs,
		    struct uspl_err *err)
{
	static const enum pair_by ways[] = { PAIR_BY_BUILD_ID, PAIR_BY_NAME, PAIR_BY_ALIAS };
	const struct update_target *target;
	const struct module *module;
	int rc;

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		vec_for_each (&scope->update->targets, target)
			vec_for_each (scope->modules, module) {
				struct pair pair = { target, module, scope->modules,
						     .by = ways[i] };

				if (module->is_vdso || pairs_have_module(pairs, module) ||
				    !is_target(target, module, ways[i], aliases))
					continue;
				rc = pairs_add(pairs, &pair, err);
				if (rc)
					return rc;
			}
	return 0;
}

const struct module *pairs_unnamed(const struct pairs_scope *scope, const pair_vec *pairs)
{
	const struct module *program = module_main(scope->modules);
	const struct update_target *target;

	if (!program || pairs_have_module(pairs, program))
		return NULL;
	vec_for_each (&scope->update->targets, target)
		if (!update_target_is_library(target))
			return program;
	return NULL;
}

/*
 * A program that was known by its code alone, and in which the update is in effect: which of the
 * update's programs it is doesn't matter any more.
 */
static int pair_done(const struct pairs_scope *scope, pair_vec *pairs, struct uspl_err *err)
{
	const struct module *program = pairs_unnamed(scope, pairs);
	const struct update_target *target = scope->update->targets.items;
	struct pair pair = { NULL, program, scope->modules, .by = PAIR_BY_CODE };

	if (!program || !region_status_region_of(scope->own, scope->update->id, program))
		return 0;
	while (update_target_is_library(target))
		target++;
	pair.target = target;
	return pairs_add(pairs, &pair, err);
}

int pairs_find(const struct pairs_scope *scope, pair_vec *ret, struct uspl_err *err)
{
	auto_strvec strvec aliases = { 0 };
	auto_pairs pair_vec pairs = { 0 };
	struct pair *pair;
	int rc = aliases_read(scope->proc, &aliases, err);

	if (rc)
		return rc;
	rc = pair_all(scope, &aliases, &pairs, err);
	if (rc)
		return rc;
	rc = pair_done(scope, &pairs, err);
	if (rc)
		return rc;
	vec_for_each (&pairs, pair)
		pair->done = region_status_region_of(scope->own, scope->update->id, pair->module) !=
			     NULL;
	*ret = pairs;
	pairs = (pair_vec){ 0 };
	return 0;
}

bool pairs_have(const pair_vec *pairs, const struct update_target *target)
{
	const struct pair *pair;

	vec_for_each (pairs, pair)
		if (pair->target == target)
			return true;
	return false;
}

bool pairs_done(const pair_vec *pairs)
{
	const struct pair *pair;

	vec_for_each (pairs, pair)
		if (!pair->done)
			return false;
	return true;
}

int pair_remark(const struct pair *pair, pid_t pid, struct report *report, struct uspl_err *err)
{
	const char *path = pair->module->path, *name = pair->target->name;
	struct match_tally tally;

	if (!pair->match)
		return 0;
	switch (pair->by) {
	case PAIR_BY_NAME:
		return report_add_remark(
			report, err, "note",
			"'%s' in pid %d is another build than the update was made for: its code "
			"is the same",
			path, pid);
	case PAIR_BY_ALIAS:
		return report_add_remark(
			report, err, "note",
			"'%s' in pid %d was started as '%s', and is another build than the update "
			"was made for: its code is the same",
			path, pid, name);
	case PAIR_BY_CODE:
		match_count(pair->match, &tally);
		return report_add_remark(
			report, err, "note",
			"'%s' in pid %d has neither the name nor a build-id of '%s', but its code: "
			"%zu of the %zu functions that were compared",
			path, pid, name, tally.matched, tally.funcs);
	default:
		return 0;
	}
}

void pair_release(struct pair *pair)
{
	match_free(pair->match);
	image_free(pair->image);
	pair->match = NULL;
	pair->image = NULL;
}

void pairs_release(pair_vec *pairs)
{
	struct pair *pair;

	vec_for_each (pairs, pair)
		pair_release(pair);
	vec_release(pairs);
}
