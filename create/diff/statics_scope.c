// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * statics_scope.c - pairs static locals by where they are declared
 *
 * The debugging information says in which function a variable is declared, whatever that function
 * was inlined into, and on which line. Function and name are enough in most cases. If a function
 * has several of one name, in blocks of their own:
 *
 *  1. As many on one line as before, which start alike and are used alike: the same ones, in their
 *     order. Unchanged lines have the same number in both builds (lines.h). A line alone
 *     tells nothing: when two blocks change places, `static int n;` is where it was. And of a line
 *     that the patch changes it isn't known which of the family was on it (a macro has the
 *     variable, and is called twice).
 *  2. The others by what they start with, then by how they are used (statics_settle).
 *  3. If it stays open which is which, that is refused.
 *
 * Thread-local variables have no address by which to find their entries; they, and what has no
 * debugging information, are left to the rules of statics.c.
 */

#include <string.h>

#include "create/diff/statics.h"
#include "create/unit/decl.h"

static bool same_family(const struct decl *a, const struct decl *b)
{
	return !strcmp(a->function, b->function) && static_same_name(a->sym, b->sym);
}

/* The loose ones of the same function and name as `like`; on that line, if it isn't 0. */
static bool pick(const decl_list *list, const struct decl *like, int line, sym_vec *ret)
{
	const struct decl *decl;

	vec_for_each (list, decl) {
		struct objsym **slot;

		if (!static_is_loose(decl->sym) || (line && decl->line != line) ||
		    !same_family(decl, like))
			continue;
		slot = vec_push(ret);
		if (!slot)
			return false;
		*slot = decl->sym;
	}
	return true;
}

/* Rule 1 for one line. */
static int pair_line(const decl_list *pre, const decl_list *post, const struct decl *like,
		     struct uspl_err *err)
{
	auto_syms sym_vec old = { 0 }, now = { 0 };

	if (!pick(pre, like, like->line, &old) || !pick(post, like, like->line, &now))
		return uspl_fail_nomem(err);
	for (size_t i = 0; old.n == now.n && i < now.n; i++)
		if (static_alike(old.items[i], now.items[i]) &&
		    (static_is_constant(now.items[i]) ||
		     static_same_use(old.items[i], now.items[i])))
			sym_pair(old.items[i], now.items[i]);
	return 0;
}

/* All of one function and name. */
static int pair_family(const decl_list *pre, const decl_list *post, const struct decl *like,
		       const struct patched_lines *patched, struct uspl_err *err)
{
	auto_syms sym_vec old = { 0 }, now = { 0 };
	const struct decl *decl;
	bool several;

	if (!pick(pre, like, 0, &old) || !pick(post, like, 0, &now))
		return uspl_fail_nomem(err);
	several = old.n > 1 || now.n > 1;
	old.n = now.n = 0;

	vec_for_each (post, decl) {
		int rc = 0;

		if (static_is_loose(decl->sym) && same_family(decl, like) &&
		    !(several && patched_lines_changed(patched, decl->file, decl->line)))
			rc = pair_line(pre, post, decl, err);
		if (rc)
			return rc;
	}
	if (!pick(pre, like, 0, &old) || !pick(post, like, 0, &now))
		return uspl_fail_nomem(err);
	if (statics_settle(&old, &now))
		return 0;
	return statics_refuse(like->sym, "several of that name change in", like->function, err);
}

/* Are there two variables of one name? Without them there is nothing to find out here. */
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

int statics_pair_scopes(struct unit *unit, const struct patched_lines *patched,
			struct uspl_err *err)
{
	auto_decls decl_list pre = { 0 }, post = { 0 };
	const struct decl *decl;
	int rc;

	if (!has_namesakes(&unit->pre) && !has_namesakes(&unit->post))
		return 0;
	rc = decls_find(&unit->pre, static_is_loose, &pre, err);
	if (rc)
		return rc;
	rc = decls_find(&unit->post, static_is_loose, &post, err);
	if (rc)
		return rc;
	/*
	 * Outside of functions nothing is found out by this: the functions that use the variable
	 * tell more.
	 */
	vec_for_each (&post, decl)
		if (*decl->function && static_is_loose(decl->sym)) {
			rc = pair_family(&pre, &post, decl, patched, err);
			if (rc)
				return rc;
		}
	return 0;
}
