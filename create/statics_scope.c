// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * statics_scope.c - pairs static locals by where they are declared
 *
 * The debugging information says in which function a variable is declared, whatever that function
 * was inlined into, and on which line. Function and name are enough in most cases. If a function
 * has several of one name, in blocks of their own:
 *
 *  1. As many on one line as before, which start alike and are used alike: the same ones, in their
 *     order. Unchanged lines have the same number in both builds (build_lines.h). A line alone
 *     tells nothing: when two blocks change places, `static int n;` is where it was.
 *  2. The others by what they start with, then by how they are used (statics_settle).
 *  3. If it stays open which is which, that is refused.
 *
 * Thread-local variables have no address by which to find their entries; they, and what has no
 * debugging information, are left to the rules of statics.c.
 */

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "create/differ.h"
#include "create/place.h"
#include "create/statics.h"

/* Where a static local is declared. */
struct home {
	struct objsym *sym;
	Dwarf_Addr address;
	const char *function; /* NULL while it isn't known */
	int line;
	size_t order; /* of the declarations in the unit */
};

struct homes {
	VEC(struct home) list;
	size_t n_found;
};

static int by_address(const void *a, const void *b)
{
	const struct home *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* Those of known place first, in the order of their declarations. */
static int by_order(const void *a, const void *b)
{
	const struct home *x = a, *y = b;

	if (!x->function != !y->function)
		return x->function ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static const char *function_around(const struct die_path *at)
{
	for (struct die_path *up = at->up; up; up = up->up)
		if (dwarf_tag(&up->die) == DW_TAG_subprogram)
			return dwarf_diename(&up->die);
	return NULL;
}

static enum walk note_home(struct die_path *at, void *arg)
{
	struct homes *homes = arg;
	struct home key, *home;

	if (dwarf_tag(&at->die) != DW_TAG_variable ||
	    !dbginfo_variable_address(&at->die, &key.address))
		return WALK_INTO;
	home = bsearch(&key, homes->list.items, homes->list.n, sizeof(key), by_address);
	if (!home || home->function || dwarf_decl_line(&at->die, &home->line))
		return WALK_INTO;
	home->function = function_around(at);
	if (home->function)
		home->order = homes->n_found++;
	return WALK_INTO;
}

/* Finds the homes of the loose variables of one build. */
static int find_homes(struct side *side, struct homes *homes, struct uspl_err *err)
{
	struct dbginfo *dbg = side_dbginfo(side);

	for (size_t i = 0; dbg && i < side->obj->syms.n; i++) {
		struct objsym *sym = side->obj->syms.items[i];
		Dwarf_Addr address;
		struct home *home;

		if (!static_is_loose(sym) || !sym->sec || sym->type == STT_TLS ||
		    !dbginfo_address(dbg, sym->sec, sym->value, &address))
			continue;
		home = vec_push(&homes->list);
		if (!home)
			return uspl_fail_nomem(err);
		*home = (struct home){ .sym = sym, .address = address };
	}
	if (!homes->list.n)
		return 0;
	qsort(homes->list.items, homes->list.n, sizeof(struct home), by_address);
	dbginfo_walk(dbg, note_home, homes);
	qsort(homes->list.items, homes->list.n, sizeof(struct home), by_order);
	homes->list.n = homes->n_found;
	return 0;
}

static bool same_family(const struct home *a, const struct home *b)
{
	return !strcmp(a->function, b->function) && static_same_name(a->sym, b->sym);
}

/* The loose ones of the same function and name as `like`; on that line, if it isn't 0. */
static bool pick(const struct homes *homes, const struct home *like, int line, sym_vec *ret)
{
	const struct home *home;

	vec_for_each (&homes->list, home) {
		struct objsym **slot;

		if (!static_is_loose(home->sym) || (line && home->line != line) ||
		    !same_family(home, like))
			continue;
		slot = vec_push(ret);
		if (!slot)
			return false;
		*slot = home->sym;
	}
	return true;
}

/* Rule 1 for one line. */
static int pair_line(const struct homes *pre, const struct homes *post, const struct home *like,
		     struct uspl_err *err)
{
	auto_syms sym_vec old = { 0 }, new = { 0 };

	if (!pick(pre, like, like->line, &old) || !pick(post, like, like->line, &new))
		return uspl_fail_nomem(err);
	for (size_t i = 0; old.n == new.n &&i < new.n; i++)
		if (static_alike(old.items[i], new.items[i]) &&
		    (static_is_constant(new.items[i]) ||
		     static_same_use(old.items[i], new.items[i])))
			sym_pair(old.items[i], new.items[i]);
	return 0;
}

/* All of one function and name. */
static int pair_family(struct unit *unit, const struct homes *pre, const struct homes *post,
		       const struct home *like, struct uspl_err *err)
{
	auto_syms sym_vec old = { 0 }, new = { 0 };
	const struct home *home;

	vec_for_each (&post->list, home) {
		int rc = 0;

		if (static_is_loose(home->sym) && same_family(home, like))
			rc = pair_line(pre, post, home, err);
		if (rc)
			return rc;
	}
	if (!pick(pre, like, 0, &old) || !pick(post, like, 0, &new))
		return uspl_fail_nomem(err);
	if (statics_settle(&old, &new))
		return 0;
	return statics_refuse(unit, like->sym, "several of that name change in", like->function,
			      err);
}

/* Are there two variables of one name? Without, there is nothing to be found out here. */
static bool has_namesakes(const struct side *side)
{
	for (size_t i = 0; i < side->obj->syms.n; i++) {
		const struct objsym *sym = side->obj->syms.items[i];

		for (size_t j = 0; static_is_loose(sym) && j < i; j++)
			if (static_is_loose(side->obj->syms.items[j]) &&
			    static_same_name(sym, side->obj->syms.items[j]))
				return true;
	}
	return false;
}

int statics_pair_scopes(struct unit *unit, struct uspl_err *err)
{
	struct homes pre = { 0 }, post = { 0 };
	const struct home *home;
	int rc;

	if (!has_namesakes(&unit->pre) && !has_namesakes(&unit->post))
		return 0;
	rc = find_homes(&unit->pre, &pre, err);
	if (!rc)
		rc = find_homes(&unit->post, &post, err);
	vec_for_each (&post.list, home)
		if (!rc && static_is_loose(home->sym))
			rc = pair_family(unit, &pre, &post, home, err);
	vec_release(&pre.list);
	vec_release(&post.list);
	return rc;
}
