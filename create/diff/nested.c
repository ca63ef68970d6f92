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
#include "create/unit/decl.h"
#include "create/unit/srcloc.h"

static bool is_nested(const struct objsym *sym)
{
	size_t len = name_base_len(sym->name);

	return sym->bind == STB_LOCAL && sym_is_function(sym) && !secinfo_of(sym->sec)->is_cold &&
	       sym->name[len] && !memchr(sym->name, '.', len);
}

static bool same_family(const struct decl *a, const struct decl *b)
{
	size_t len = name_base_len(a->sym->name);

	return !strcmp(a->function, b->function) && name_base_len(b->sym->name) == len &&
	       !memcmp(a->sym->name, b->sym->name, len) && sym_same_origin(a->sym, b->sym);
}

enum { BY_LINE = 1, BY_CODE = 2 };

/* The only one in the list that is the same and has no twin; *ret_n: how many there are. */
static const struct decl *find_same(const decl_list *list, const struct decl *like, int how,
				    size_t *ret_n)
{
	const struct decl *decl, *found = NULL;

	*ret_n = 0;
	vec_for_each (list, decl) {
		if (syminfo_of(decl->sym)->twin || !same_family(decl, like) ||
		    ((how & BY_LINE) && decl->line != like->line) ||
		    ((how & BY_CODE) && !sec_same_bytes(decl->sym->sec, like->sym->sec)))
			continue;
		found = decl;
		++*ret_n;
	}
	return *ret_n == 1 ? found : NULL;
}

static void pair_round(const decl_list *pre, const decl_list *post, int how)
{
	const struct decl *decl;

	vec_for_each (post, decl) {
		const struct decl *old;
		size_t n;

		if (!*decl->function || syminfo_of(decl->sym)->twin)
			continue;
		old = find_same(pre, decl, how, &n);
		if (old && find_same(post, old, how, &n) == decl)
			sym_pair(old->sym, decl->sym);
	}
}

static int refuse_rest(const decl_list *pre, const decl_list *post, struct uspl_err *err)
{
	const struct decl *decl, *old;

	vec_for_each (post, decl)
		vec_for_each (pre, old) {
			auto_buf struct buf was = { 0 };

			if (!*decl->function || syminfo_of(decl->sym)->twin ||
			    syminfo_of(old->sym)->twin || !same_family(old, decl))
				continue;
			sym_refuse(decl->sym, err, USPL_E_UNSUPPORTED,
				   "cannot tell whether '%s' is the one that was at %s before the "
				   "patch: '%s' has several functions of that name",
				   decl->sym->name, sym_srcloc(old->sym, &was), decl->function);
			uspl_hint(err, "give them different names, the new one a new name");
			return -USPL_E_UNSUPPORTED;
		}
	return 0;
}

int nested_pair(struct unit *unit, struct uspl_err *err)
{
	auto_decls decl_list pre = { 0 }, post = { 0 };
	const struct decl *decl;
	bool any = false;
	int rc;

	for (size_t i = 0; i < unit->post.obj->syms.n; i++)
		any |= is_nested(unit->post.obj->syms.items[i]);
	if (!any)
		return 0;
	rc = decls_find(&unit->pre, is_nested, &pre, err);
	if (rc)
		return rc;
	rc = decls_find(&unit->post, is_nested, &post, err);
	if (rc)
		return rc;
	pair_round(&pre, &post, BY_LINE | BY_CODE);
	pair_round(&pre, &post, BY_CODE);
	pair_round(&pre, &post, BY_LINE);
	pair_round(&pre, &post, 0);
	rc = refuse_rest(&pre, &post, err);
	if (rc)
		return rc;
	/* Those that are new must not be taken for clones of others. */
	vec_for_each (&post, decl) {
		auto_buf struct buf alias = { 0 };
		struct syminfo *syminfo = syminfo_of(decl->sym);

		if (!*decl->function || syminfo->twin)
			continue;
		buf_addf(&alias, "%s~", decl->sym->name);
		syminfo->alias = alias.oom ? NULL : objfile_strdup(unit->post.obj, buf_str(&alias));
		if (!syminfo->alias)
			return uspl_fail_nomem(err);
	}
	return 0;
}
