// SPDX-License-Identifier: GPL-3.0-or-later
// pairs.c - which modules of a process the targets of an update are

#include "apply/pairs.h"

#include <string.h>

#include "base/log.h"
#include "live/overlay.h"
#include "live/survey.h"
#include "match/origin.h"
#include "proc/tls.h"

static bool has_build_id(const struct update_target *target, const char *build_id)
{
	char *const *id;

	vec_for_each (&target->build_ids, id)
		if (build_id && !strcmp(*id, build_id))
			return true;
	return false;
}

static bool has_name(const struct update_target *target, const struct module *module)
{
	return !strcmp(module->name, target->name) ||
	       (target->soname && module->soname && !strcmp(module->soname, target->soname));
}

static bool is_paired(const pair_vec *pairs, const struct module *module)
{
	const struct pair *pair;

	vec_for_each (pairs, pair)
		if (pair->module == module)
			return true;
	return false;
}

static int pair_target(const struct update_target *target, const module_vec *modules, bool by_name,
		       pair_vec *pairs, struct uspl_err *err)
{
	const struct module *module;
	struct pair *pair;

	vec_for_each (modules, module) {
		bool same =
			by_name ? has_name(target, module) : has_build_id(target, module->build_id);

		if (!same || module->is_vdso || is_paired(pairs, module))
			continue;
		pair = vec_push(pairs);
		if (!pair)
			return uspl_fail_nomem(err);
		*pair = (struct pair){ target, module, modules, .by_name = by_name };
	}
	return 0;
}

/*
 * By build-ids first, which can't be mistaken; a name, which two targets of an update may share,
 * counts for what is left over.
 */
int pairs_find(const struct update *update, const module_vec *modules, const region_vec *regions,
	       pair_vec *ret, struct uspl_err *err)
{
	const struct update_target *target;
	pair_vec pairs = { 0 };
	struct pair *pair;
	int rc = 0;

	vec_for_each (&update->targets, target)
		rc = rc ? rc : pair_target(target, modules, false, &pairs, err);
	vec_for_each (&update->targets, target)
		rc = rc ? rc : pair_target(target, modules, true, &pairs, err);
	if (rc) {
		pairs_release(&pairs);
		return rc;
	}
	vec_for_each (&pairs, pair)
		pair->done = survey_region_of(regions, update->id, pair->module) != NULL;
	*ret = pairs;
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

/* Adds to a refusal what is known about the builds. */
static void explain_build(const struct pair *pair, const char *unit, struct uspl_err *err)
{
	const char *running = pair->module->build_id ? pair->module->build_id : "none";
	const struct origin update = { pair->target->compiler, pair->target->producer };
	auto_origin struct origin program = { 0 };

	origin_of_image(pair->image, unit, &program);
	if (origin_explain(pair->match, &update, &program, err) || !pair->by_name || !err)
		return;
	uspl_hint(err,
		  "'%s' is another build than the update was made for: its build-id is %s, the "
		  "update's %s%s",
		  pair->module->name, running,
		  pair->target->build_ids.n ? pair->target->build_ids.items[0] : "none",
		  pair->target->build_ids.n > 1 ? " or others" : "");
}

static int require_all(const struct pair *pair, struct uspl_err *err)
{
	const struct update_function *function;
	const struct match_piece *piece;

	vec_for_each (&pair->target->functions, function) {
		int rc = match_require(pair->match, function->symbol, &piece, err);

		if (rc) {
			explain_build(pair, function->unit, err);
			return rc;
		}
	}
	return 0;
}

/* What the update says of this build, NULL if it wasn't matched ahead. */
static const struct update_match *find_record(const struct pair *pair)
{
	const struct update_match *record;

	vec_for_each (&pair->target->matched, record)
		if (pair->module->build_id && !strcmp(record->build_id, pair->module->build_id))
			return record;
	return NULL;
}

/* The bytes are compared in any case; a record tells where, and which of several. */
static int match_module(struct pair *pair, struct uspl_err *err)
{
	const struct update_match *record = find_record(pair);
	auto_free struct match_hint *hints = NULL;
	size_t n = record ? record->places.n : 0;

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

static int match_pair(const struct proc *proc, const region_vec *regions, struct pair *pair,
		      struct uspl_err *err)
{
	int rc = module_image(proc, pair->module, &pair->image, err);

	if (!rc)
		rc = module_tls_note(proc, pair->modules, pair->module, pair->image, err);
	if (!rc)
		rc = overlay_add(pair->image, proc, regions, pair->module->start, err);
	if (!rc)
		rc = match_module(pair, err);
	return rc ? rc : require_all(pair, err);
}

static void pair_release(struct pair *pair)
{
	match_free(pair->match);
	image_free(pair->image);
	pair->match = NULL;
	pair->image = NULL;
}

/*
 * Matches the target's pairs; those by build-id come first. One by name needn't match if another
 * one does.
 */
static int match_target(const struct proc *proc, const region_vec *regions, pair_vec *pairs,
			const struct update_target *target, struct uspl_err *err)
{
	struct uspl_err first = { 0 };
	bool any = false;
	struct pair *pair;

	vec_for_each (pairs, pair) {
		struct uspl_err failure = { 0 };
		int rc;

		if (pair->target != target)
			continue;
		rc = pair->done ? 0 : match_pair(proc, regions, pair, &failure);
		any |= !rc;
		if (!rc)
			continue;
		pair_release(pair);
		if (!first.code)
			first = failure;
		if (!pair->by_name || rc != -USPL_E_NO_MATCH)
			break;
	}
	if (pair < pairs->items + pairs->n || !any) {
		if (err)
			*err = first;
		return -(int)first.code;
	}
	return 0;
}

/* Moves the pairs that were not matched, of targets that have others which were, to ret_others. */
static int drop_others(pair_vec *pairs, module_list *ret_others, struct uspl_err *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < pairs->n; i++) {
		struct pair *pair = &pairs->items[i];
		const struct module **item;

		if (pair->done || pair->match) {
			pairs->items[kept++] = *pair;
			continue;
		}
		item = vec_push(ret_others);
		if (!item)
			return uspl_fail_nomem(err);
		*item = pair->module;
	}
	pairs->n = kept;
	return 0;
}

int pairs_match(const struct update *update, const struct proc *proc, const region_vec *regions,
		pair_vec *pairs, module_list *ret_others, struct uspl_err *err)
{
	const struct update_target *target;
	int rc = 0;

	vec_for_each (&update->targets, target)
		if (!rc && pairs_have(pairs, target))
			rc = match_target(proc, regions, pairs, target, err);
	return rc ? rc : drop_others(pairs, ret_others, err);
}

void pairs_release(pair_vec *pairs)
{
	struct pair *pair;

	vec_for_each (pairs, pair)
		pair_release(pair);
	vec_release(pairs);
}
