// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * statics.c - pairs variables whose names don't tell which they are
 *
 * A static local of gcc is called "x.3", with a number that counts all of the unit's; one of clang
 * "f.x". A new one in front renumbers the rest, and a wrong pair would make new code use another
 * variable's storage unnoticed. So they pair through the functions that use them:
 *
 *  1. Several of one name go by the functions in which they are declared, as the debugging
 *     information has it (statics_scope.c).
 *  2. The n-th variable "x" that a function uses is the n-th "x" that its twin uses, if the two are
 *     equal in their bytes. In others, where what is already paired no longer counts, there must be
 *     one left, or they must be told apart by size and initial contents (others would be refused
 *     anyway) or by what the code does with them; what stays open is refused.
 *  3. One used by no code (but by other data) keeps its full name.
 *  4. What is then left over in both builds under one name has moved, if each function that uses
 *     the new one is the twin of a user of the old one, or new and called by such a twin. It is
 *     new, if all functions that used the old one are still there and no longer do. Anything else
 *     can't be told, and is refused.
 *
 * Constants are never refused: of those that are alike any will do, and others are new ones.
 */

#include <string.h>

#include "create/diff/correlate.h"
#include "create/diff/statics.h"

static bool used_by_code(const struct side *side, const struct objsym *sym)
{
	for (size_t i = 0; i < side->obj->secs.n; i++)
		if (static_user(side->obj->secs.items[i]) &&
		    sec_refers_to(side->obj->secs.items[i], sym))
			return true;
	return false;
}

static bool add_once(sym_vec *syms, struct objsym *sym)
{
	struct objsym **slot;

	for (size_t i = 0; i < syms->n; i++)
		if (syms->items[i] == sym)
			return true;
	slot = vec_push(syms);
	if (slot)
		*slot = sym;
	return slot != NULL;
}

/*
 * The loose variables that a function and its .cold part use, in order of first use; of one
 * source name, if `like` is given.
 */
static bool collect_loose(const struct objsec *code, const struct objsym *like, sym_vec *ret)
{
	const struct objsec *halves[2] = { code, secinfo_of(code)->other };

	for (size_t i = 0; i < ARRAY_SIZE(halves); i++) {
		const struct objrel *rel;

		if (!halves[i])
			continue;
		vec_for_each (&halves[i]->rels, rel)
			if (static_is_loose(rel->sym) &&
			    (!like || static_same_name(rel->sym, like)) && !add_once(ret, rel->sym))
				return false;
	}
	return true;
}

/* Rule 2 for one function and one source name. */
static int pair_in_function(const struct objsym *function, const struct objsym *like, bool equal,
			    struct uspl_err *err)
{
	auto_syms sym_vec pre = { 0 }, post = { 0 };

	if (!collect_loose(syminfo_of(function)->twin->sec, like, &pre) ||
	    !collect_loose(function->sec, like, &post))
		return uspl_fail_nomem(err);
	for (size_t i = 0; equal && pre.n == post.n && i < post.n; i++)
		if (sym_same_sort(pre.items[i], post.items[i]))
			sym_pair(pre.items[i], post.items[i]);
	if (statics_settle(&pre, &post))
		return 0;
	return statics_refuse(like,
			      pre.n == post.n ? "several of that name change in"
					      : "there are more or fewer than before in",
			      function->name, err);
}

static int pair_by_function(const struct objsym *function, bool equal, struct uspl_err *err)
{
	auto_syms sym_vec loose = { 0 };
	int rc = collect_loose(function->sec, NULL, &loose) ? 0 : uspl_fail_nomem(err);

	if (rc)
		return rc;
	for (size_t i = 0; i < loose.n; i++)
		if (static_is_loose(loose.items[i])) {
			rc = pair_in_function(function, loose.items[i], equal, err);
			if (rc)
				return rc;
		}
	return 0;
}

static int pair_by_functions(struct unit *unit, bool equal, struct uspl_err *err)
{
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i];
		const struct objsym *twin = syminfo_of(sym)->twin;
		int rc;

		if (!twin || !sym_is_function(sym) || secinfo_of(sym->sec)->is_cold ||
		    secinfo_of(sym->sec)->shared || sec_same_bytes(twin->sec, sym->sec) != equal)
			continue;
		rc = pair_by_function(sym, equal, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* Rule 3. */
static void pair_unused(struct unit *unit)
{
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		struct objsym *sym = unit->post.obj->syms.items[i], *old;

		if (!static_is_loose(sym) || used_by_code(&unit->post, sym))
			continue;
		old = objfile_symbol(unit->pre.obj, sym->name);
		if (old && static_is_loose(old) && sym_same_sort(old, sym) &&
		    static_same_name(old, sym) && !used_by_code(&unit->pre, old))
			sym_pair(old, sym);
	}
}

/*
 * Is `function` (of the post build) new, and does the twin of a function that used `old` refer to
 * it?
 */
static bool called_by_user(const struct unit *unit, const struct objsym *function,
			   const struct objsym *old)
{
	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		const struct objsec *sec = unit->post.obj->secs.items[i];
		const struct objsym *caller = static_user(sec), *twin;

		twin = caller ? syminfo_of(caller)->twin : NULL;
		if (twin && sec_refers_to(sec, function) && sec_refers_to(twin->sec, old))
			return true;
	}
	return false;
}

static bool has_moved(const struct unit *unit, const struct objsym *old, const struct objsym *sym)
{
	bool used = false;

	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		const struct objsec *sec = unit->post.obj->secs.items[i];
		const struct objsym *user = static_user(sec), *twin;

		if (!user || !sec_refers_to(sec, sym))
			continue;
		used = true;
		twin = syminfo_of(user)->twin;
		if (twin ? !sec_refers_to(twin->sec, old) : !called_by_user(unit, user, old))
			return false;
	}
	return used && old->size == sym->size;
}

/* A function that used `old` and doesn't exist any more. */
static const struct objsym *lost_user(const struct unit *unit, const struct objsym *old)
{
	for (size_t i = 0; i < unit->pre.obj->secs.n; i++) {
		const struct objsec *sec = unit->pre.obj->secs.items[i];
		const struct objsym *user = static_user(sec);

		if (user && !syminfo_of(user)->twin && sec_refers_to(sec, old))
			return user;
	}
	return NULL;
}

/* Rule 4 for one variable of the post build. */
static int pair_moved(struct unit *unit, struct objsym *sym, struct uspl_err *err)
{
	struct objsym *found = NULL;
	const struct objsym *lost = NULL;

	for (size_t i = 0; i < unit->pre.obj->syms.n; i++) {
		struct objsym *old = unit->pre.obj->syms.items[i];

		if (!static_is_loose(old) || !static_same_name(old, sym) ||
		    !sym_same_sort(old, sym))
			continue;
		if (!lost)
			lost = lost_user(unit, old);
		if (!has_moved(unit, old, sym))
			continue;
		if (found && !static_is_constant(sym))
			return statics_refuse(sym, "several could have moved; the first is",
					      found->name, err);
		if (!found || static_alike(old, sym))
			found = old;
	}
	if (!found && lost && !static_is_constant(sym))
		return statics_refuse(sym, "one was used in a function that is gone,", lost->name,
				      err);
	if (found)
		sym_pair(found, sym);
	return 0;
}

int statics_pair(struct unit *unit, const struct patched_lines *patched, struct uspl_err *err)
{
	int rc = statics_note_parts(&unit->pre, err);

	if (!rc)
		rc = statics_note_parts(&unit->post, err);
	if (!rc)
		rc = statics_pair_scopes(unit, patched, err);
	if (rc)
		return rc;
	rc = pair_by_functions(unit, true, err);
	if (rc)
		return rc;
	rc = pair_by_functions(unit, false, err);
	if (rc)
		return rc;
	pair_unused(unit);
	for (size_t i = 0; i < unit->post.obj->syms.n; i++)
		if (static_is_loose(unit->post.obj->syms.items[i])) {
			rc = pair_moved(unit, unit->post.obj->syms.items[i], err);
			if (rc)
				return rc;
		}
	return 0;
}
