// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * vet_local.c - classes of one name in one function
 *
 * Such classes read the same, `f()::job::run()`, and are told apart by a number in the name that
 * the linker sees (a discriminator, Itanium C++ ABI 5.1.6). One more in front renumbers the others,
 * and objects that the process has would get the code of another class. So where there are several,
 * a function of theirs that changes must be the one that was declared on the same line, and none of
 * the others may have its old code. Anything else is refused.
 */

#include <string.h>

#include "base/demangle.h"
#include "base/text.h"
#include "create/unit/decl.h"
#include "create/unit/srcloc.h"
#include "create/vet/vet_checks.h"

static bool is_member(const struct objsym *sym)
{
	return text_starts_with(sym->name, "_ZZ") && sym_is_function(sym) &&
	       !secinfo_of(sym->sec)->is_cold;
}

/* Appends the name without its discriminators, "_0" and "__10_". */
static void add_plain(const char *name, struct buf *ret)
{
	while (*name) {
		size_t lines = strspn(name, "_"), digits = strspn(name + lines, "0123456789");

		if (lines && digits) {
			name += lines + (lines == 1 ? 1 : digits);
			name += lines > 1 && *name == '_';
			continue;
		}
		buf_add(ret, name++, 1);
	}
}

/* Do two different symbols read the same, but for the discriminator? */
static bool are_namesakes(const struct objsym *a, const struct objsym *b)
{
	auto_buf struct buf x = { 0 }, y = { 0 };
	auto_free char *text_a = NULL, *text_b = NULL;

	add_plain(sym_pair_name(a), &x);
	add_plain(sym_pair_name(b), &y);
	if (x.oom || y.oom || strcmp(buf_str(&x), buf_str(&y)) != 0)
		return false;
	text_a = demangle_name(a->name);
	text_b = demangle_name(b->name);
	return text_a && text_b && !strcmp(text_a, text_b);
}

/* How many functions of a build are called so. */
static size_t count_namesakes(const struct side *side, const struct objsym *like)
{
	size_t n = 0;

	for (size_t i = 0; i < side->obj->syms.n; i++)
		n += is_member(side->obj->syms.items[i]) &&
		     are_namesakes(side->obj->syms.items[i], like);
	return n;
}

/* One of the others that has the code that `old` had. */
static const struct objsym *find_old_code(const struct unit *unit, const struct objsym *old,
					  const struct objsym *sym)
{
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *other = unit->post.obj->syms.items[i];

		if (other != sym && is_member(other) && syminfo_of(other)->twin != old &&
		    sec_same_bytes(other->sec, old->sec) && are_namesakes(other, sym))
			return other;
	}
	return NULL;
}

static int line_of(const decl_list *decls, const struct objsym *sym)
{
	const struct decl *decl;

	vec_for_each (decls, decl)
		if (decl->sym == sym)
			return decl->line;
	return 0;
}

int vet_local_classes(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	auto_decls decl_list pre = { 0 }, post = { 0 };
	bool looked_up = false;

	(void)diff;
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i];
		const struct objsym *old = is_member(sym) ? syminfo_of(sym)->twin : NULL;
		auto_buf struct buf was = { 0 };
		int rc = 0, line;

		if (!old || !secinfo_of(sym->sec)->reason || syminfo_of(old)->unit != unit ||
		    (count_namesakes(&unit->pre, sym) < 2 && count_namesakes(&unit->post, sym) < 2))
			continue;
		if (!looked_up)
			rc = decls_find(syminfo_of(old)->side, is_member, &pre, err);
		if (!rc && !looked_up)
			rc = decls_find(syminfo_of(sym)->side, is_member, &post, err);
		if (rc)
			return rc;
		looked_up = true;
		line = line_of(&post, sym);
		if (line && line == line_of(&pre, old) && !find_old_code(unit, old, sym))
			continue;
		sym_refuse(sym, err, USPL_E_UNSUPPORTED,
			   "cannot tell whether '%s' is the one that was at %s before the patch: "
			   "several classes of its function have that name",
			   sym->name, sym_srcloc(old, &was));
		uspl_hint(err,
			  "objects that the process has go on with the code of their class; give "
			  "the classes different names, the new one a new name");
		return -USPL_E_UNSUPPORTED;
	}
	return 0;
}
