// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * decl.c - where in the source the functions and variables of a unit are declared
 *
 * One walk over the debugging information for all symbols: to look for each by itself would take
 * too long where a generated source has thousands.
 */

#include "create/unit/decl.h"

#include <dwarf.h>
#include <stdlib.h>

#include "create/unit/srcloc.h"

struct search {
	decl_list wanted; /* sorted by address; function is NULL until the entry is found */
	decl_list *found;
	bool oom;
};

static int by_address(const void *a, const void *b)
{
	const struct decl *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static const char *function_around(const struct die_path *at)
{
	for (struct die_path *up = at->up; up; up = up->up) {
		const char *name = dwarf_diename(&up->die);

		if (dwarf_tag(&up->die) == DW_TAG_subprogram)
			return name ? name : "?";
	}
	return "";
}

bool decl_address(struct die_path *at, Dwarf_Addr *ret)
{
	switch (dwarf_tag(&at->die)) {
	case DW_TAG_variable:
		return dbginfo_variable_address(&at->die, ret);
	case DW_TAG_subprogram:
		return !dwarf_lowpc(&at->die, ret);
	default:
		return false;
	}
}

/* Takes the entry for the symbol at key's address, if one is wanted there. */
static void take_decl(struct search *search, struct die_path *at, const struct decl *key)
{
	struct decl *decl = bsearch(key, search->wanted.items, search->wanted.n, sizeof(*key),
				    by_address),
		    *slot;

	if (!decl || decl->function || dwarf_decl_line(&at->die, &decl->line))
		return;
	decl->function = function_around(at);
	decl->file = dbginfo_declaring_file(&at->die);
	decl->is_part = key->is_part;
	decl->part = key->part;
	slot = vec_push(search->found);
	search->oom |= !slot;
	if (slot)
		*slot = *decl;
}

static enum walk note_decl(struct die_path *at, void *arg)
{
	struct search *search = arg;
	struct decl key = { 0 };
	struct variable_part part;

	if (dwarf_tag(&at->die) == DW_TAG_variable) {
		for (size_t i = 0; dbginfo_variable_part(&at->die, i, &part); i++) {
			key.address = part.address;
			key.is_part = !part.whole;
			key.part = part.offset;
			take_decl(search, at, &key);
		}
	} else if (decl_address(at, &key.address)) {
		take_decl(search, at, &key);
	}
	return search->oom ? WALK_STOP : WALK_INTO;
}

int decls_find(struct side *side, bool (*wanted)(const struct objsym *sym), decl_list *ret,
	       struct uspl_err *err)
{
	struct dbginfo *dbg = side_dbginfo(side);
	struct search search = { .found = ret };
	Dwarf_Addr address;

	for (size_t i = 0; dbg && !search.oom && i < side->obj->syms.n; i++) {
		struct objsym *sym = side->obj->syms.items[i];
		struct decl *decl;

		if (!wanted(sym) || !sym->sec || sym->type == STT_TLS ||
		    !dbginfo_address(dbg, sym->sec, sym->value, &address))
			continue;
		decl = vec_push(&search.wanted);
		search.oom = !decl;
		if (decl)
			*decl = (struct decl){ .sym = sym, .address = address };
	}
	if (!search.oom && search.wanted.n) {
		qsort(search.wanted.items, search.wanted.n, sizeof(struct decl), by_address);
		dbginfo_walk(dbg, note_decl, &search);
	}
	vec_release(&search.wanted);
	return search.oom ? uspl_fail_nomem(err) : 0;
}
