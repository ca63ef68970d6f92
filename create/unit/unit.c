// SPDX-License-Identifier: GPL-3.0-or-later
// unit.c - what is asked of a compilation unit's symbols and sections

#include "create/unit/unit.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"

size_t name_base_len(const char *name)
{
	size_t len = strlen(name);

	for (;;) {
		size_t i = len;

		while (i && isdigit((unsigned char)name[i - 1]))
			i--;
		if (i == len || i < 2 || name[i - 1] != '.')
			return len;
		len = i - 1;
	}
}

bool sym_is_compiler_made(const struct objsym *sym)
{
	/* ".str": clang's, of a string that stands alone, as the address sanitizer wants it. */
	static const char *const prefixes[] = {
		".L",        ".str",          "CSWTCH.",
		"__func__.", "__FUNCTION__.", "__PRETTY_FUNCTION__.",
		"reltable.", "switch.table.", "__const.",
		"C.",
	};

	if (sym->bind != STB_LOCAL || !sym->sec || (sym->sec->flags & SHF_EXECINSTR))
		return false;
	if ((sym->sec->flags & SHF_WRITE) && !text_starts_with(sym->sec->name, ".data.rel.ro"))
		return false;
	return TEXT_STARTS_WITH_ONE_OF(sym->name, prefixes);
}

bool sym_is_pointer_for_tables(const struct objsym *sym)
{
	return sym->sec && text_starts_with(sym->name, "DW.ref.");
}

bool sym_is_function(const struct objsym *sym)
{
	return sym->sec && (sym->type == STT_FUNC || sym->type == STT_GNU_IFUNC) &&
	       secinfo_of(sym->sec)->kind == SECINFO_CODE;
}

bool sym_is_variable(const struct objsym *sym)
{
	if (sym->shndx == SHN_COMMON)
		return true;
	if (!sym->sec || sym->type == STT_SECTION || sym_is_compiler_made(sym))
		return false;
	switch (secinfo_of(sym->sec)->kind) {
	case SECINFO_DATA:
	case SECINFO_CONST:
	case SECINFO_TLS:
		return true;
	default:
		return false;
	}
}

struct objsym *sym_other_name_of(const struct objsym *sym)
{
	struct objsym *owner = sym_is_function(sym) ? secinfo_of(sym->sec)->owner : NULL;

	return owner && owner != sym && owner->value == sym->value && sym->type == STT_FUNC &&
			       owner->type == STT_FUNC
		       ? owner
		       : NULL;
}

bool sec_refers_to(const struct objsec *sec, const struct objsym *sym)
{
	const struct objrel *rel;

	vec_for_each (&sec->rels, rel)
		if (rel->sym == sym)
			return true;
	return false;
}

bool sec_same_bytes(const struct objsec *a, const struct objsec *b)
{
	return a->size == b->size && a->data && b->data && !memcmp(a->data, b->data, a->size);
}

const char *side_compiler(const struct side *side)
{
	const struct objsec *sec = objfile_section(side->obj, ".comment");
	const char *text = sec ? (const char *)sec->data : NULL;

	if (!text || !sec->size || text[sec->size - 1])
		return NULL;
	/* gcc's begins with an empty string. */
	for (size_t i = 0; i < sec->size; i += strlen(text + i) + 1)
		if (text[i])
			return text + i;
	return NULL;
}

bool unit_carries_code(const struct unit *unit)
{
	for (size_t i = 0; i < unit->post.obj->secs.n; i++)
		if (unit->post.secinfos[i].carried && unit->post.secinfos[i].kind == SECINFO_CODE)
			return true;
	return false;
}

int unit_object_defines(const char *path, const char *name, bool *ret, struct uspl_err *err)
{
	auto_objfile struct objfile *obj = NULL;
	const struct objsym *sym;
	int rc = objfile_read_code(path, &obj, err);

	if (rc)
		return rc;
	sym = objfile_symbol(obj, name);
	*ret = sym && sym->sec;
	return 0;
}

bool sym_same_sort(const struct objsym *a, const struct objsym *b)
{
	return sym_is_function(a) == sym_is_function(b) &&
	       (a->type == STT_TLS) == (b->type == STT_TLS);
}

const char *sym_pair_name(const struct objsym *sym)
{
	return syminfo_of(sym)->alias ? syminfo_of(sym)->alias : sym->name;
}

bool sym_same_origin(const struct objsym *a, const struct objsym *b)
{
	const char *x = syminfo_of(a)->origin, *y = syminfo_of(b)->origin;

	return x && y ? !strcmp(x, y) : x == y;
}

void sym_pair(struct objsym *pre, struct objsym *post)
{
	syminfo_of(pre)->twin = post;
	syminfo_of(post)->twin = pre;
}
