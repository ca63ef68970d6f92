// SPDX-License-Identifier: GPL-3.0-or-later
// pairs_match.c - whether a module is what a target of the update was made from
//
// A module that has a build-id or a name of the update must have the update's code. A program that
// has neither may have it all the same: a distribution gives programs other names than their build
// does. It is taken for a target if every function that the update changes is in it, and nearly all
// other code of the changed sources, and if that is more code than a program that has nothing to do
// with the update would have.

#include "machine/pairs.h"

#include <string.h>

#include "apply/base.h"
#include "base/log.h"
#include "match/origin.h"
#include "proc/module_tls.h"
#include "record/detours.h"
#include "record/overlay.h"

/* What must be in a program that nothing else tells: so many of the pieces of code, and bytes. */
#define CODE_PERCENT 90
#define CODE_BYTES 512

/* Adds to a refusal what is known about the builds. */
static void explain_build(const struct pair *pair, const char *unit, struct uspl_err *err)
{
	const char *running = pair->module->build_id ? pair->module->build_id : "none";
	const struct origin update = { pair->target->compiler, pair->target->producer };
	auto_origin struct origin program = { 0 };
	auto_free char *likely = NULL;

	origin_of_image(pair->image, unit, &program);
	if (origin_explain(pair->match, &update, &program, err) || pair->by == PAIR_BY_BUILD_ID ||
	    !err)
		return;
	likely = strdup(err->hint);
	uspl_hint(err,
		  "%s; '%s' is another build than the update was made for: its build-id is %s, the "
		  "update's %s%s",
		  likely ? likely : "", pair->module->name, running,
		  pair->target->build_ids.n ? pair->target->build_ids.items[0] : "none",
		  pair->target->build_ids.n > 1 ? " or others" : "");
}

/* The bytes are compared in any case; a record tells where, and which of several is meant. */
static int match_module(struct pair *pair, struct uspl_err *err)
{
	const struct update_match *matched, *record = NULL;
	auto_free struct match_hint *hints = NULL;
	size_t n;

	/* What the update says of this build, if it was matched ahead. */
	vec_for_each (&pair->target->matched, matched)
		if (!record && pair->module->build_id &&
		    !strcmp(matched->build_id, pair->module->build_id))
			record = matched;
	n = record ? record->places.n : 0;
	if (!n)
		return match_run(pair->image, pair->target->pre_code, &pair->match, err);
	hints = calloc(n, sizeof(*hints));
	if (!hints)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		hints[i] = (struct match_hint){
			.refname = record->places.items[i].symbol,
			.addr = record->places.items[i].addr + (uint64_t)pair->module->bias,
		};
	log_info("match", "'%s' was matched ahead, as '%s'", pair->module->name, record->file);
	return match_run_hinted(pair->image, pair->target->pre_code, hints, n, &pair->match, err);
}

static int match_pair(const struct pairs_scope *scope, struct pair *pair, struct uspl_err *err)
{
	const struct proc *proc = scope->proc;
	const struct update_function *function;
	const struct match_func *func;
	int rc = module_image(proc, pair->module, &pair->image, err);

	if (rc)
		return rc;
	rc = module_tls_note(proc, pair->modules, pair->module, pair->image, err);
	if (rc)
		return rc;
	if (scope->replaced)
		overlay_leave_out(pair->image, scope->replaced);
	rc = overlay_add(pair->image, proc, scope->others, pair->module->start, err);
	if (rc)
		return rc;
	rc = detours_unpatch_image(pair->image, scope->others, pair->module->start, err);
	if (rc)
		return rc;
	rc = match_module(pair, err);
	if (rc)
		return rc;
	vec_for_each (&pair->target->functions, function) {
		rc = match_require(pair->match, function->symbol, &func, err);
		if (rc && !base_explain(scope->update, pair->target, pair->module->start,
					scope->others, function->name, err))
			explain_build(pair, function->unit, err);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * Two targets of an update may have one name: two flavours of a program that a package builds. Of a
 * module that has nothing but this name, the code decides which one it is.
 */
static int match_flavours(const struct pairs_scope *scope, struct pair *pair, struct uspl_err *err)
{
	const struct update_target *first = pair->target, *other;
	int rc = match_pair(scope, pair, err);

	vec_for_each (&scope->update->targets, other) {
		if (rc != -USPL_E_NO_MATCH || pair->by != PAIR_BY_NAME)
			return rc;
		if (other == first || !pair_has_name(other, pair->module))
			continue;
		pair_release(pair);
		pair->target = other;
		if (!match_pair(scope, pair, NULL))
			return 0;
	}
	pair->target = first;
	return rc;
}

/*
 * Matches the target's pairs; those by build-id come first. A pair by name needn't match if another
 * one does.
 */
static int match_target(const struct pairs_scope *scope, const struct update_target *target,
			pair_vec *pairs, struct uspl_err *err)
{
	struct uspl_err first = { 0 };
	bool any = false;
	struct pair *pair;

	vec_for_each (pairs, pair) {
		struct uspl_err failure = { 0 };
		int rc;

		if (pair->target != target)
			continue;
		rc = pair->done || pair->match ? 0 : match_flavours(scope, pair, &failure);
		any |= !rc;
		if (!rc)
			continue;
		pair_release(pair);
		if (!first.code)
			first = failure;
		if (pair->by == PAIR_BY_BUILD_ID || rc != -USPL_E_NO_MATCH)
			break;
	}
	if (pair < pairs->items + pairs->n || !any) {
		if (err)
			*err = first;
		return -(int)first.code;
	}
	return 0;
}

/*
 * Looks whether the unnamed program is this target; if so, and if more of this one's code is in it
 * than of *best, the pair takes the place of *best.
 */
static int match_unnamed(const struct pairs_scope *scope, struct pair *pair, struct pair *best,
			 struct uspl_err *err)
{
	struct match_tally tally, best_tally = { 0 };
	struct uspl_err failure = { 0 };
	int rc = match_pair(scope, pair, &failure);

	if (best->match)
		match_count(best->match, &best_tally);
	if (!rc)
		match_count(pair->match, &tally);
	/* So much of the update's old code is in the program that it can't be another one. */
	if (!rc && tally.matched * 100 >= tally.funcs * CODE_PERCENT && tally.bytes >= CODE_BYTES &&
	    tally.bytes > best_tally.bytes) {
		pair_release(best);
		*best = *pair;
		return 0;
	}
	pair_release(pair);
	if (!rc || rc == -USPL_E_NO_MATCH || rc == -USPL_E_UNSUPPORTED)
		return 0;
	if (err)
		*err = failure;
	return rc;
}

/* The program, if nothing but its code can tell which target it is. */
static int pair_unnamed(const struct pairs_scope *scope, pair_vec *pairs, struct uspl_err *err)
{
	const struct module *program = pairs_unnamed(scope, pairs);
	const struct update_target *target;
	struct pair best = { 0 };
	int rc = 0;

	if (!program)
		return 0;
	vec_for_each (&scope->update->targets, target) {
		struct pair pair = { target, program, scope->modules, .by = PAIR_BY_CODE };

		if (!rc && !update_target_is_library(target))
			rc = match_unnamed(scope, &pair, &best, err);
	}
	if (!rc && best.match)
		rc = pairs_add(pairs, &best, err);
	if (rc)
		pair_release(&best);
	return rc;
}

int pairs_match(const struct pairs_scope *scope, pair_vec *pairs, module_list *ret_others,
		struct uspl_err *err)
{
	const struct update_target *target;
	const struct module **other;
	size_t kept = 0;
	int rc;

	vec_for_each (&scope->update->targets, target)
		if (pairs_have(pairs, target)) {
			rc = match_target(scope, target, pairs, err);
			if (rc)
				return rc;
		}
	/* Those that were not matched are of targets that have others which were. */
	for (size_t i = 0; i < pairs->n; i++) {
		struct pair *pair = &pairs->items[i];

		if (pair->done || pair->match) {
			pairs->items[kept++] = *pair;
			continue;
		}
		other = vec_push(ret_others);
		if (!other)
			return uspl_fail_nomem(err);
		*other = pair->module;
	}
	pairs->n = kept;
	return pair_unnamed(scope, pairs, err);
}
