// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * counted.c - pairs static functions and variables whose names the preprocessor has counted
 *
 * With `__COUNTER__` a macro makes a new name at each use: hits_0, hits_1. One more use in front
 * renumbers the rest, and each name then means what its neighbour was. Nothing tells such names
 * from those that people number by hand, which mean what they say. So a name loses to a neighbour's
 * only if two things say so that know nothing of names:
 *
 *  - the line on which it is declared: unchanged lines have the same number in both builds
 *    (lines.h),
 *  - for a variable, what it starts with, and what uses it: functions of the same bytes, which now
 *    refer to another number. Functions have no storage; a wrong pair is only a larger update.
 *
 * Where that is found for one variable, the numbers of its family mean nothing: all variables of it
 * that aren't confirmed in the same way are left to the rules of statics.c, by the name without its
 * number.
 */

#include <ctype.h>
#include <string.h>

#include "create/diff/correlate.h"
#include "create/diff/statics.h"
#include "create/unit/decl.h"

/* The length of a name that ends in a number, without the number; 0: it has none. */
static size_t stem_len(const char *name)
{
	size_t len = strlen(name), i = len;

	while (i && isdigit((unsigned char)name[i - 1]))
		i--;
	return i == len || strchr(name, '.') ? 0 : i;
}

static bool may_be_counted(const struct objsym *sym)
{
	return sym->bind == STB_LOCAL && (sym_is_function(sym) || sym_is_variable(sym)) &&
	       stem_len(sym->name);
}

static bool same_family(const struct objsym *a, const struct objsym *b)
{
	size_t len = stem_len(a->name);

	return sym_same_sort(a, b) && stem_len(b->name) == len && !memcmp(a->name, b->name, len) &&
	       sym_same_origin(a, b);
}

static bool same_name(const struct objsym *a, const struct objsym *b)
{
	return !strcmp(a->name, b->name) && sym_same_origin(a, b);
}

static bool has_name(const struct side *side, const struct objsym *sym)
{
	for (size_t i = 0; i < side->obj->syms.n; i++)
		if (may_be_counted(side->obj->syms.items[i]) &&
		    same_name(side->obj->syms.items[i], sym))
			return true;
	return false;
}

/* Did a number that a name might have been counted with come or go? */
static bool numbers_differ(const struct unit *unit)
{
	const struct side *sides[2] = { &unit->pre, &unit->post };

	for (size_t way = 0; way < ARRAY_SIZE(sides); way++)
		for (size_t i = 0; i < sides[way]->obj->syms.n; i++)
			if (may_be_counted(sides[way]->obj->syms.items[i]) &&
			    !has_name(sides[!way], sides[way]->obj->syms.items[i]))
				return true;
	return false;
}

/* The only one of a name's family that is declared on its line, in the other build; else NULL. */
static struct objsym *only_on_line(const decl_list *others, const struct decl *like)
{
	struct objsym *found = NULL;
	const struct decl *decl;

	vec_for_each (others, decl) {
		if (decl->line != like->line || !same_family(decl->sym, like->sym))
			continue;
		if (found)
			return NULL;
		found = decl->sym;
	}
	return found;
}

typedef void (*home_visit)(const decl_list *pre, const decl_list *post, const struct decl *decl);

/* Calls visit for each declaration of the build after the patch. */
static int for_each(struct unit *unit, home_visit visit, struct uspl_err *err)
{
	auto_decls decl_list pre = { 0 }, post = { 0 };
	const struct decl *decl;
	int rc;

	if (!numbers_differ(unit))
		return 0;
	rc = decls_find(&unit->pre, may_be_counted, &pre, err);
	if (rc || !pre.n)
		return rc;
	rc = decls_find(&unit->post, may_be_counted, &post, err);
	if (rc)
		return rc;
	vec_for_each (&post, decl)
		visit(&pre, &post, decl);
	return 0;
}

static void pair_function(const decl_list *pre, const decl_list *post, const struct decl *decl)
{
	struct objsym *old = sym_is_function(decl->sym) ? only_on_line(pre, decl) : NULL;

	/* A new one before an old one may have been given the line of the old one. */
	if (old && !syminfo_of(old)->twin &&
	    (only_on_line(post, decl) || sec_same_bytes(old->sec, decl->sym->sec)))
		sym_pair(old, decl->sym);
}

int counted_pair_functions(struct unit *unit, struct uspl_err *err)
{
	return for_each(unit, pair_function, err);
}

/* Do the same functions use the two, some of them with the same bytes as before? */
static bool same_users(const struct objsym *pre, const struct objsym *post)
{
	const struct side *side = syminfo_of(post)->side;
	bool equal = false;

	for (size_t i = 0; i < side->obj->secs.n; i++) {
		const struct objsec *sec = side->obj->secs.items[i];
		const struct objsym *user = static_user(sec), *twin;

		if (!user || !sec_refers_to(sec, post))
			continue;
		twin = syminfo_of(user)->twin;
		if (!twin || !twin->sec || !sec_refers_to(twin->sec, pre))
			return false;
		equal |= sec_same_bytes(twin->sec, sec);
	}
	return equal;
}

static bool confirms(const struct objsym *old, const struct decl *decl)
{
	return sym_is_variable(decl->sym) && static_alike(old, decl->sym) &&
	       same_users(old, decl->sym);
}

static struct objsym *confirmed_twin(const decl_list *pre, const decl_list *post,
				     const struct decl *decl)
{
	struct objsym *old = only_on_line(pre, decl);
	const struct decl *other;

	if (!old || !confirms(old, decl))
		return NULL;
	vec_for_each (post, other)
		if (other != decl && other->line == decl->line &&
		    same_family(other->sym, decl->sym) && confirms(old, other))
			return NULL;
	return old;
}

/* Takes a family apart whose twin has another name, and pairs again what is confirmed. */
static void pair_variable(const decl_list *pre, const decl_list *post, const struct decl *like)
{
	const struct objsym *twin =
		syminfo_of(like->sym)->counted ? NULL : confirmed_twin(pre, post, like);
	const struct decl *decl;

	if (!twin || same_name(twin, like->sym))
		return;
	vec_for_each (pre, decl)
		if (same_family(decl->sym, like->sym)) {
			syminfo_of(decl->sym)->twin = NULL;
			syminfo_of(decl->sym)->counted = true;
		}
	vec_for_each (post, decl)
		if (same_family(decl->sym, like->sym)) {
			syminfo_of(decl->sym)->twin = NULL;
			syminfo_of(decl->sym)->counted = true;
		}
	vec_for_each (post, decl) {
		struct objsym *old =
			same_family(decl->sym, like->sym) ? confirmed_twin(pre, post, decl) : NULL;

		if (old)
			sym_pair(old, decl->sym);
	}
}

int counted_pair_variables(struct unit *unit, struct uspl_err *err)
{
	return for_each(unit, pair_variable, err);
}
