/* SPDX-License-Identifier: GPL-3.0-or-later */
/* decl.h - where in the source the functions and variables of a unit are declared, all at once */
#ifndef USPL_CREATE_UNIT_DECL_H
#define USPL_CREATE_UNIT_DECL_H

#include "create/unit/dbginfo.h"
#include "create/unit/unit.h"

/* Where a symbol is declared. */
struct decl {
	struct objsym *sym;
	Dwarf_Addr address;   /* in the debugging information */
	const char *function; /* the one around it, "" outside of functions; owned by dbginfo */
	const char *file;     /* owned by dbginfo; NULL: not known */
	int line;
	bool is_part;  /* clang has made several variables of one (dbginfo_variable_part) */
	uint64_t part; /* where it was in that */
};

typedef VEC(struct decl) decl_list;

/*
 * Where a function's code begins, or a variable lies, the first of its parts; false for other
 * entries.
 */
bool decl_address(struct die_path *at, Dwarf_Addr *ret);

/*
 * Appends the places of the wanted symbols of a side, in the order of their declarations. Those
 * that aren't known are left out: thread-local variables among them, which have no address.
 */
int decls_find(struct side *side, bool (*wanted)(const struct objsym *sym), decl_list *ret,
	       struct uspl_err *err) uspl_must_check;
DEFINE_AUTO_RELEASE(decls, decl_list, vec_release)
#define auto_decls __attribute__((cleanup(cleanup_decls_)))

#endif
