// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * nested.c - pairs functions that are defined within functions
 *
 * They are an extension of gcc, which calls them "name.3", with a number that counts all of the
 * unit's. Their addresses are kept like those of others, as callbacks, so they must be paired by
 * more than an order: by the function that they are defined in, and if that has several of one name
 * by their lines, and then by their code. What stays open is refused. (Clones have such numbers
 * too, and only direct calls lead to them: correlate.c.)
 */

#include <string.h>

#include "create/diff/correlate.h"
#include "create/unit/home.h"
#include "create/unit/srcloc.h"

static bool is_nested(const struct objsym *sym)
{
	size_t len = name_base_len(sym->name);

	return sym->bind == STB_LOCAL && sym_is_function(sym) && !part_of(sym->sec)->is_cold &&
	       sym->name[len] && !memchr(sym->name, '.', len);
}

static bool same_family(const struct home *a, const struct home *b)
{
	size_t len = name_base_len(a->sym->name);

	return !strcmp(a->function, b->function) && name_base_len(b->sym->name) == len &&
	       !memcmp(a->sym->name, b->sym->name, len);
}

enum { BY_LINE = 1, BY_CODE = 2 };

static bool is_same(const struct home *a, const struct home *b, int how)
{
	return same_family(a, b) && (!(how & BY_LINE) || a->line == b->line) &&
	       (!(how & BY_CODE) || sec_same_bytes(a->sym->sec, b->sym->sec));
}

/* The only one in the list that is the same and has no twin; *ret_n: how many there are. */
static const struct home *find_same(const home_list *list, const struct home *like, int how,
				    size_t *ret_n)
{
	const struct home *home, *found = NULL;

	*ret_n = 0;
	vec_for_each (list, home) {
		if (ident_of(home->sym)->twin || !is_same(home, like, how))
			continue;
		found = home;
		++*ret_n;
	}
	return *ret_n == 1 ? found : NULL;
}

static void pair_round(const home_list *pre, const home_list *post, int how)
{
	const struct home *home;

	vec_for_each (post, home) {
		const struct home *old;
		size_t n;

		if (!*home->function || ident_of(home->sym)->twin)
			continue;
		old = find_same(pre, home, how, &n);
		if (old && find_same(post, old, how, &n) == home)
			sym_pair(old->sym, home->sym);
	}
}

static int refuse_rest(const home_list *pre, const home_list *post, struct uspl_err *err)
{
	const struct home *home, *old;

	vec_for_each (post, home)
		vec_for_each (pre, old) {
			auto_buf struct buf was = { 0 };

			if (!*home->function || ident_of(home->sym)->twin ||
			    ident_of(old->sym)->twin || !same_family(old, home))
				continue;
			sym_refuse(home->sym, err, USPL_E_UNSUPPORTED,
				   "cannot tell whether '%s' is the one that was at %s before the "
				   "patch: '%s' has several functions of that name",
				   home->sym->name, sym_place(old->sym, &was), home->function);
			uspl_hint(err, "give them different names, the new one a new name");
			return -USPL_E_UNSUPPORTED;
		}
	return 0;
}

/* Those that are new must not be taken for clones of others. */
static int set_apart(const struct unit *unit, const home_list *post, struct uspl_err *err)
{
	const struct home *home;

	vec_for_each (post, home) {
		auto_buf struct buf alias = { 0 };
		struct ident *ident = ident_of(home->sym);

		if (!*home->function || ident->twin)
			continue;
		buf_addf(&alias, "%s~", home->sym->name);
		ident->alias = alias.oom ? NULL : objfile_strdup(unit->post.obj, buf_str(&alias));
		if (!ident->alias)
			return uspl_fail_nomem(err);
	}
	return 0;
}

int nested_pair(struct unit *unit, struct uspl_err *err)
{
	auto_homes home_list pre = { 0 }, post = { 0 };
	bool any = false;
	int rc;

	for (size_t i = 0; i < unit->post.obj->syms.n; i++)
		any |= is_nested(unit->post.obj->syms.items[i]);
	if (!any)
		return 0;
	rc = homes_find(&unit->pre, is_nested, &pre, err);
	if (!rc)
		rc = homes_find(&unit->post, is_nested, &post, err);
	if (rc)
		return rc;
	pair_round(&pre, &post, BY_LINE | BY_CODE);
	pair_round(&pre, &post, BY_CODE);
	pair_round(&pre, &post, BY_LINE);
	pair_round(&pre, &post, 0);
	rc = refuse_rest(&pre, &post, err);
	return rc ? rc : set_apart(unit, &post, err);
}
