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
 *  - for a variable, what it starts with, and who uses it: functions of the same bytes, which now
 *    refer to another number. Functions have no storage; a wrong pair is only a larger update.
 *
 * Where that is found of one variable, the numbers of its family mean nothing: all of it that isn't
 * confirmed in the same way is left to the rules of statics.c, by the name without its number.
 */

#include <ctype.h>
#include <string.h>

#include "create/diff/correlate.h"
#include "create/diff/statics.h"
#include "create/unit/home.h"

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

	return sym_same_sort(a, b) && stem_len(b->name) == len && !memcmp(a->name, b->name, len);
}

static bool same_name(const struct objsym *a, const struct objsym *b)
{
	return !strcmp(a->name, b->name);
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

/* The only one of a home's family that is declared on its line, in the other build; else NULL. */
static struct objsym *only_on_line(const home_list *others, const struct home *like)
{
	struct objsym *found = NULL;
	const struct home *home;

	vec_for_each (others, home) {
		if (home->line != like->line || !same_family(home->sym, like->sym))
			continue;
		if (found)
			return NULL;
		found = home->sym;
	}
	return found;
}

static int find_lists(struct unit *unit, home_list *pre, home_list *post, struct uspl_err *err)
{
	int rc = numbers_differ(unit) ? homes_find(&unit->pre, may_be_counted, pre, err) : 0;

	return rc || !pre->n ? rc : homes_find(&unit->post, may_be_counted, post, err);
}

typedef void (*home_visit)(const home_list *pre, const home_list *post, const struct home *home);

/* Calls visit for each of the build after the patch. */
static int for_each(struct unit *unit, home_visit visit, struct uspl_err *err)
{
	auto_homes home_list pre = { 0 }, post = { 0 };
	int rc = find_lists(unit, &pre, &post, err);
	const struct home *home;

	if (rc)
		return rc;
	vec_for_each (&post, home)
		visit(&pre, &post, home);
	return 0;
}

static void pair_function(const home_list *pre, const home_list *post, const struct home *home)
{
	struct objsym *old = sym_is_function(home->sym) ? only_on_line(pre, home) : NULL;

	/* A new one before an old one may have been given the line of the old one. */
	if (old && !ident_of(old)->twin &&
	    (only_on_line(post, home) || sec_same_bytes(old->sec, home->sym->sec)))
		sym_pair(old, home->sym);
}

int counted_pair_functions(struct unit *unit, struct uspl_err *err)
{
	return for_each(unit, pair_function, err);
}

/* Do the same functions use the two, some of them with the same bytes as before? */
static bool same_users(const struct objsym *pre, const struct objsym *post)
{
	const struct side *side = ident_of(post)->side;
	bool equal = false;

	for (size_t i = 0; i < side->obj->secs.n; i++) {
		const struct objsec *sec = side->obj->secs.items[i];
		const struct objsym *user = static_user(sec), *twin;

		if (!user || !sec_refers_to(sec, post))
			continue;
		twin = ident_of(user)->twin;
		if (!twin || !twin->sec || !sec_refers_to(twin->sec, pre))
			return false;
		equal |= sec_same_bytes(twin->sec, sec);
	}
	return equal;
}

static bool confirms(const struct objsym *old, const struct home *home)
{
	return sym_is_variable(home->sym) && static_alike(old, home->sym) &&
	       same_users(old, home->sym);
}

static struct objsym *confirmed_twin(const home_list *pre, const home_list *post,
				     const struct home *home)
{
	struct objsym *old = only_on_line(pre, home);
	const struct home *other;

	if (!old || !confirms(old, home))
		return NULL;
	vec_for_each (post, other)
		if (other != home && other->line == home->line &&
		    same_family(other->sym, home->sym) && confirms(old, other))
			return NULL;
	return old;
}

/* Takes a family apart, and pairs again what is confirmed. */
static void pair_again(const home_list *pre, const home_list *post, const struct objsym *like)
{
	const struct home *home;

	vec_for_each (pre, home)
		if (same_family(home->sym, like)) {
			ident_of(home->sym)->twin = NULL;
			ident_of(home->sym)->counted = true;
		}
	vec_for_each (post, home)
		if (same_family(home->sym, like)) {
			ident_of(home->sym)->twin = NULL;
			ident_of(home->sym)->counted = true;
		}
	vec_for_each (post, home) {
		struct objsym *old =
			same_family(home->sym, like) ? confirmed_twin(pre, post, home) : NULL;

		if (old)
			sym_pair(old, home->sym);
	}
}

static void pair_variable(const home_list *pre, const home_list *post, const struct home *home)
{
	const struct objsym *old =
		ident_of(home->sym)->counted ? NULL : confirmed_twin(pre, post, home);

	if (old && !same_name(old, home->sym))
		pair_again(pre, post, home->sym);
}

int counted_pair_variables(struct unit *unit, struct uspl_err *err)
{
	return for_each(unit, pair_variable, err);
}
