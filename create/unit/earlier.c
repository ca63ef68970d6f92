// SPDX-License-Identifier: GPL-3.0-or-later
// earlier.c - the updates that a process has already when the new one comes

#include "create/unit/earlier.h"

#include <string.h>

/* No code lies there. */
#define NOWHERE 0

int earlier_add(struct earlier *earlier, const struct update *update, struct uspl_err *err)
{
	const struct update **item = vec_push(&earlier->updates);

	if (!item)
		return uspl_fail_nomem(err);
	*item = update;
	return 0;
}

int earlier_read(struct earlier *earlier, const cli_strings *paths, struct uspl_err *err)
{
	const char **path;

	vec_for_each (paths, path) {
		auto_update struct update *update = NULL;
		int rc = update_read(*path, &update, err);
		struct update **item = rc ? NULL : vec_push(&earlier->own);

		if (rc)
			return rc;
		if (!item)
			return uspl_fail_nomem(err);
		*item = take_ptr(update);
		rc = earlier_add(earlier, *item, err);
		if (rc)
			return rc;
	}
	return 0;
}

void earlier_release(struct earlier *earlier)
{
	struct update **item;

	vec_for_each (&earlier->own, item)
		update_free(*item);
	vec_release(&earlier->own);
	vec_release(&earlier->updates);
}

/* The same program or library in an earlier update; NULL if that doesn't change it. */
static const struct update_target *find_target(const struct update *update,
					       const struct update_target *target)
{
	const struct update_target *other;

	vec_for_each (&update->targets, other)
		if (!strcmp(other->path, target->path))
			return other;
	return NULL;
}

bool earlier_changes(const struct update *older, const struct update *update)
{
	const struct update_target *target;

	vec_for_each (&update->targets, target)
		if (find_target(older, target))
			return true;
	return false;
}

static bool is_brought(const struct earlier *earlier, const struct update_target *target,
		       const char *refname, bool code)
{
	const struct update *const *update;

	vec_for_each (&earlier->updates, update) {
		const struct update_target *other = find_target(*update, target);

		for (size_t i = 0; other && i < other->new_code->syms.n; i++) {
			const struct objsym *sym = other->new_code->syms.items[i];

			if (sym->sec && (!code || objsec_is_code(sym->sec)) &&
			    !strcmp(sym->name, refname))
				return true;
		}
	}
	return false;
}

bool earlier_has(const struct earlier *earlier, const struct update_target *target,
		 const char *refname)
{
	return is_brought(earlier, target, refname, true);
}

bool earlier_brings(const struct earlier *earlier, const struct update_target *target,
		    const char *refname)
{
	return is_brought(earlier, target, refname, false);
}

static bool recorded_place(const struct update_target *target, const char *build_id,
			   const char *refname, taddr *ret)
{
	const struct update_match *record;
	const struct update_place *place;

	vec_for_each (&target->matched, record) {
		if (strcmp(record->build_id, build_id))
			continue;
		vec_for_each (&record->places, place)
			if (!strcmp(place->symbol, refname)) {
				*ret = place->addr;
				return true;
			}
	}
	return false;
}

/*
 * A part of a function that lies apart (.cold) has no entry: it is where the new function's part
 * is.
 */
static bool is_redirected(const struct earlier *earlier, const struct update_target *target,
			  const char *refname)
{
	const struct update *const *update;

	vec_for_each (&earlier->updates, update) {
		const struct update_target *other = find_target(*update, target);
		const struct update_function *function;

		if (!other)
			continue;
		vec_for_each (&other->functions, function)
			if (!strcmp(function->symbol, refname))
				return true;
	}
	return false;
}

bool earlier_place(const struct earlier *earlier, const struct update_target *target,
		   const char *build_id, const char *refname, taddr *ret)
{
	const struct update *const *update;

	if (!build_id || !is_redirected(earlier, target, refname))
		return false;
	vec_for_each (&earlier->updates, update) {
		const struct update_target *other = find_target(*update, target);

		if (other && recorded_place(other, build_id, refname, ret))
			return true;
	}
	return false;
}

int earlier_hints(const struct earlier *earlier, const struct update_target *target,
		  const char *build_id, const struct objfile *code, struct match_hint **ret,
		  size_t *ret_n, struct uspl_err *err)
{
	struct match_hint *hints = calloc(code->syms.n + 1, sizeof(*hints));
	size_t n = 0;

	if (!hints)
		return uspl_fail_nomem(err);
	for (size_t i = 0; earlier->updates.n && i < code->syms.n; i++) {
		const struct objsym *sym = code->syms.items[i];

		if (sym->type == STT_SECTION || !sym->sec || !objsec_is_code(sym->sec) ||
		    !earlier_has(earlier, target, sym->name))
			continue;
		hints[n] = (struct match_hint){ sym->name, NOWHERE };
		if (!earlier_place(earlier, target, build_id, sym->name, &hints[n].addr))
			hints[n].addr = NOWHERE;
		n++;
	}
	*ret = hints;
	*ret_n = n;
	return 0;
}
