/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * own_names.h - what a refname means by a program's own symbol table
 *
 * A table is the second witness, after the running code itself (match.h). uspl-apply asks it of a
 * process, uspl-create of a file.
 */
#ifndef USPL_MATCH_OWN_NAMES_H
#define USPL_MATCH_OWN_NAMES_H

#include "base/error.h"
#include "match/match.h"

/* The symbols that a reference may mean. */
struct own_names {
	size_t n; /* distinct places: aliases at one place count once */
	const struct image_sym *first;
};

/*
 * The symbols of the match's image that a refname may mean: of a local one those of its file, of a
 * global one its definition, or else all local ones of that name, since the linker makes hidden
 * ones local.
 */
struct own_names own_names_find(const struct match *match, const char *refname);
/* The value of a symbol: its address, or its offset from the thread pointer. */
taddr own_names_value(const struct image *image, const struct image_sym *sym);
/*
 * Refuses (USPL_E_UNRESOLVED) a value that the running code has told where the table has another.
 * An address outside the image, or a global symbol's stub, doesn't count: the symbol is interposed.
 */
int own_names_check(const struct match *match, const struct image *image, const char *refname,
		    taddr value, const char *module, struct uspl_err *err) uspl_must_check;
/* The same for a reference whose value no code tells, if it means no symbol or several. */
int own_names_require_one(const struct own_names *own, const char *refname, const char *module,
			  struct uspl_err *err) uspl_must_check;
/* Refuses a global name that none of the n_modules which the module sees defines. */
int own_names_fail_nowhere(const char *refname, size_t n_modules, const char *module,
			   struct uspl_err *err);

#endif
