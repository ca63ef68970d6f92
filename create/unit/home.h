/* SPDX-License-Identifier: GPL-3.0-or-later */
/* home.h - where in the source the functions and variables of a unit are declared, all at once */
#ifndef USPL_CREATE_UNIT_HOME_H
#define USPL_CREATE_UNIT_HOME_H

#include "create/unit/dbginfo.h"
#include "create/unit/unit.h"

/* Where a symbol is declared. */
struct home {
	struct objsym *sym;
	Dwarf_Addr address;   /* in the debugging information */
	const char *function; /* the one around it, "" outside of functions; owned by dbginfo */
	int line;
};

typedef VEC(struct home) home_list;

/*
 * Appends the homes of the wanted symbols of a side, in the order of their declarations. Those that
 * aren't known are left out: thread-local variables among them, which have no address.
 */
int homes_find(struct side *side, bool (*wanted)(const struct objsym *sym), home_list *ret,
	       struct uspl_err *err) uspl_must_check;
DEFINE_AUTO_RELEASE(homes, home_list, vec_release)
#define auto_homes __attribute__((cleanup(cleanup_homes_)))

#endif
