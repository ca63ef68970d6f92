// SPDX-License-Identifier: GPL-3.0-or-later
// static_var.c - what is known of one variable whose name doesn't tell which it is

#include <ctype.h>
#include <string.h>

#include "create/diff/statics.h"
#include "create/unit/decl.h"
#include "create/unit/equal.h"
#include "create/unit/srcloc.h"

/* The name in the source: "x.3" and "f.x" -> "x". Returns its length. */
static size_t source_name(const struct objsym *sym, const char **ret_start)
{
	size_t len = name_base_len(sym->name), start = len;

	while (start && sym->name[start - 1] != '.')
		start--;
	/* "hits_1": the preprocessor counted. */
	while (syminfo_of(sym)->counted && isdigit((unsigned char)sym->name[len - 1]))
		len--;
	*ret_start = sym->name + start;
	return len - start;
}

void static_add_name(const struct objsym *sym, struct buf *buf)
{
	const char *name;
	size_t len = source_name(sym, &name);

	buf_add(buf, name, len);
}

/* The same part of what the source knows as one variable, or both all of one? */
static bool same_part(const struct syminfo *a, const struct syminfo *b)
{
	return a->is_part == b->is_part && a->part == b->part;
}

bool static_same_name(const struct objsym *a, const struct objsym *b)
{
	const char *x, *y;
	size_t len = source_name(a, &x);

	return source_name(b, &y) == len && !memcmp(x, y, len) && sym_same_origin(a, b) &&
	       same_part(syminfo_of(a), syminfo_of(b));
}

static bool may_be_part(const struct objsym *sym)
{
	return static_is_loose(sym) && sym->name[name_base_len(sym->name)];
}

int statics_note_parts(struct side *side, struct uspl_err *err)
{
	auto_decls decl_list decls = { 0 };
	const char *compiler = side_compiler(side);
	const struct decl *decl;
	bool any = false;
	int rc;

	for (size_t i = 0; !any && compiler && strstr(compiler, "clang") && i < side->obj->syms.n;
	     i++)
		any = may_be_part(side->obj->syms.items[i]);
	rc = any ? decls_find(side, may_be_part, &decls, err) : 0;
	if (rc)
		return rc;
	vec_for_each (&decls, decl) {
		syminfo_of(decl->sym)->is_part = decl->is_part;
		syminfo_of(decl->sym)->part = decl->part;
	}
	return 0;
}

bool static_is_loose(const struct objsym *sym)
{
	return sym->bind == STB_LOCAL && sym_is_variable(sym) && !syminfo_of(sym)->twin;
}

struct objsym *static_user(const struct objsec *sec)
{
	const struct secinfo *secinfo = secinfo_of(sec);

	if (secinfo->kind != SECINFO_CODE)
		return NULL;
	return secinfo->is_cold && secinfo->other ? secinfo_of(secinfo->other)->owner
						  : secinfo->owner;
}

bool static_alike(const struct objsym *pre, const struct objsym *post)
{
	struct range a = { pre->sec, pre->value, pre->size },
		     b = { post->sec, post->value, post->size };

	return sym_same_sort(pre, post) && pre->sec && post->sec && equal_ranges(&a, &b, 0);
}

bool static_is_constant(const struct objsym *sym)
{
	return sym->sec && secinfo_of(sym->sec)->kind == SECINFO_CONST;
}

int statics_refuse(const struct objsym *var, const char *why, const char *function,
		   struct uspl_err *err)
{
	const char *name;
	int len = (int)source_name(var, &name);
	int rc = sym_refuse(var, err, USPL_E_UNSUPPORTED,
			    "cannot tell which static variable '%.*s' is which: %s '%s'", len, name,
			    why, function);

	uspl_hint(err, "give the variables different names, one of them a new one");
	return rc;
}
