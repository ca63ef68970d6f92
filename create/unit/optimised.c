// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * optimised.c - units that link-time optimisation has made, of all sources of a program at once
 *
 * gcc describes a function twice: where it is declared, its types and variables in an entry of the
 * source's own unit ("early debug"), and its code in one of the unit "<artificial>", which refers
 * to the first (DW_AT_abstract_origin). The attributes of the two count as one entry's, and the
 * unit that the name comes from is the source.
 */

#include "create/unit/optimised.h"

#include <ctype.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "create/unit/decl.h"
#include "create/unit/srcloc.h"

/*
 * What compilers put behind a name, before a number: gcc's lto/lto-partition.c,
 * privatize_symbol_name; LLVM's ModuleSummaryIndex::getGlobalNameForLocal.
 */
static const char *const marks[] = { ".lto_priv.", ".llvm." };

/* Where the mark is in a name, and where the name goes on behind the number; NULL: nowhere. */
static const char *find_mark(const char *name, const char **ret_rest)
{
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		const char *mark = strstr(name, marks[i]);

		if (!mark)
			continue;
		*ret_rest = mark + strlen(marks[i]);
		while (isdigit((unsigned char)**ret_rest))
			(*ret_rest)++;
		return mark;
	}
	return NULL;
}

void optimised_localise(const struct objfile *obj)
{
	for (size_t i = 0; i < obj->syms.n; i++) {
		struct objsym *sym = obj->syms.items[i];
		const char *rest;

		if (sym->vis == STV_HIDDEN && sym->sec && find_mark(sym->name, &rest)) {
			sym->bind = STB_LOCAL;
			sym->vis = STV_DEFAULT;
		}
	}
}

/* Gives a symbol the name of which so many characters are left, and `rest` behind. */
static bool rename_symbol(const struct side *side, struct objsym *sym, size_t len, const char *rest)
{
	auto_buf struct buf name = { 0 };

	buf_add(&name, sym->name, len);
	buf_addstr(&name, rest);
	syminfo_of(sym)->linked = sym->name;
	sym->name = name.oom ? NULL : objfile_strdup(side->obj, buf_str(&name));
	return sym->name;
}

int optimised_rename(const struct side *side, struct uspl_err *err)
{
	for (size_t i = 0; i < side->obj->syms.n; i++) {
		struct objsym *sym = side->obj->syms.items[i];
		const char *rest, *mark = find_mark(sym->name, &rest);

		if (mark && !rename_symbol(side, sym, (size_t)(mark - sym->name), rest))
			return uspl_fail_nomem(err);
	}
	return 0;
}

/* A symbol whose origin is looked for. */
struct wanted {
	Dwarf_Addr address;
	struct objsym *sym;
};

struct search {
	VEC(struct wanted) wanted; /* sorted by address */
	struct side *side;
	struct dbginfo *dbg;
	bool llvm;
	bool oom;
};

static int by_address(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/*
 * Is the entry of what the symbol stands for, and not of another one at the same place? *ret_len:
 * of the symbol's name without what compilers have put behind it.
 */
static bool is_of(Dwarf_Die *die, const struct objsym *sym, size_t *ret_len)
{
	Dwarf_Attribute attr;
	const char *name = dwarf_diename(die);
	const char *linkage =
		dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attr));
	size_t len = linkage ? strlen(linkage) : name ? strlen(name) : 0;
	const char *at = linkage ? linkage : name;

	*ret_len = len;
	if (!len)
		return false;
	if (!strncmp(sym->name, at, len) && (!sym->name[len] || sym->name[len] == '.'))
		return true;
	/* A static variable of a function: "f.x" of LLVM, "_ZZ..." of C++. */
	*ret_len = name_base_len(sym->name);
	if (!name || dwarf_tag(die) != DW_TAG_variable)
		return false;
	len = strlen(name);
	return (*ret_len > len + 1 && sym->name[*ret_len - len - 1] == '.' &&
		!strncmp(sym->name + *ret_len - len, name, len)) ||
	       (text_starts_with(sym->name, "_ZZ") && strstr(sym->name, name));
}

/* The path of the source that an entry's name comes from, NULL if it isn't known. */
static char *source_path(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die source;

	return dwarf_attr_integrate(die, DW_AT_name, &attr) &&
			       dwarf_cu_die(attr.cu, &source, NULL, NULL, NULL, NULL, NULL, NULL)
		       ? dbginfo_unit_path(&source)
		       : NULL;
}

const char *optimised_source(const struct objsym *sym, struct buf *buf)
{
	struct side *side = syminfo_of(sym)->side;
	struct dbginfo *dbg = syminfo_of(sym)->unit->optimised ? side_dbginfo(side) : NULL;
	auto_free char *path = NULL;
	Dwarf_Die die;

	if (dbg && dbginfo_find(dbg, sym, &die))
		path = source_path(&die);
	if (!path)
		return side->source;
	dbginfo_add_path(dbg, path, buf);
	return buf_str(buf);
}

/* Notes where a symbol is from, given its entry, and takes a number off that LLVM has put there. */
static void note_symbol(struct search *search, Dwarf_Die *die, struct objsym *sym)
{
	auto_free char *path = NULL;
	auto_buf struct buf shown = { 0 };
	size_t len;

	if (!is_of(die, sym, &len))
		return;
	path = source_path(die);
	if (!path)
		return;
	dbginfo_add_path(search->dbg, path, &shown);
	syminfo_of(sym)->origin = objfile_strdup(search->side->obj, path);
	syminfo_of(sym)->place = objfile_strdup(search->side->obj, buf_str(&shown));
	search->oom |= shown.oom || !syminfo_of(sym)->origin || !syminfo_of(sym)->place;
	if (search->llvm && name_base_len(sym->name) == len && sym->name[len])
		search->oom |= !rename_symbol(search->side, sym, len, "");
}

static enum walk note_origin(struct die_path *at, void *arg)
{
	struct search *search = arg;
	Dwarf_Attribute attr;
	Dwarf_Addr address;
	bool external = false;
	size_t i;

	if (!decl_address(at, &address) || (dwarf_attr_integrate(&at->die, DW_AT_external, &attr) &&
					    !dwarf_formflag(&attr, &external) && external))
		return WALK_INTO;
	i = vec_lower_bound(&search->wanted, it, it->address < address);
	for (; i < search->wanted.n && search->wanted.items[i].address == address; i++)
		note_symbol(search, &at->die, search->wanted.items[i].sym);
	return search->oom ? WALK_STOP : WALK_INTO;
}

int optimised_find_origins(struct side *side, struct uspl_err *err)
{
	struct search search = {
		.side = side,
		.dbg = side_dbginfo(side),
		.llvm = !strcmp(file_basename(side->source), DBGINFO_LLVM),
	};
	int rc = 0;

	for (size_t i = 0; search.dbg && i < side->obj->syms.n; i++) {
		struct objsym *sym = side->obj->syms.items[i];
		struct wanted *slot;
		Dwarf_Addr address;

		if (sym->bind != STB_LOCAL || sym->type == STT_TLS ||
		    (!sym_is_function(sym) && !sym_is_variable(sym)) ||
		    !dbginfo_address(search.dbg, sym->sec, sym->value, &address))
			continue;
		slot = vec_push(&search.wanted);
		if (!slot) {
			rc = uspl_fail_nomem(err);
			break;
		}
		*slot = (struct wanted){ address, sym };
	}
	if (!rc && search.wanted.n) {
		qsort(search.wanted.items, search.wanted.n, sizeof(struct wanted), by_address);
		dbginfo_walk(search.dbg, note_origin, &search);
	}
	vec_release(&search.wanted);
	return search.oom ? uspl_fail_nomem(err) : rc;
}
