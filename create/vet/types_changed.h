/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * types_changed.h - which types and typed variables of a unit mean something else after the patch
 *
 * Objects that the running program has made lie in its memory as the old code laid them out, and
 * new code reads them as the new types say. This finds out where the two disagree; typeuse.h tells
 * whether such objects can be there, vet_types.c what to do about it.
 */
#ifndef USPL_CREATE_VET_TYPES_CHANGED_H
#define USPL_CREATE_VET_TYPES_CHANGED_H

#include "create/unit/dbgtype.h"
#include "create/unit/unit.h"

/* A type or a variable that isn't what it was. */
struct type_change {
	struct side *pre_side, *post_side;
	Dwarf_Die pre, post; /* its entries in the two builds */
	char *name;          /* "struct conn", or the variable's */
	char *text;          /* what is different, "'next' moves from offset 8 to 16" */
	Dwarf_Die where;     /* the first thing that is different, in the post build */
	bool unsafe;         /* what old code has made means something else to new code */
	bool is_variable;
	bool adds;    /* it has new members */
	bool follows; /* only a type in it changes, which has an entry of its own */
};

typedef VEC(struct type_change) type_changes;

/* Appends what differs between the builds of a unit; both must have debugging information. */
int types_compare(struct unit *unit, type_changes *changes, struct uspl_err *err) uspl_must_check;
/* Frees a list and its texts. */
void types_release(type_changes *changes);
DEFINE_AUTO_RELEASE(types, type_changes, types_release)
#define auto_types __attribute__((cleanup(cleanup_types_)))

/* The two halves of it: a structure, and an enumeration. Fill in text, where and unsafe. */
int types_compare_layout(struct type_change *change, struct uspl_err *err) uspl_must_check;
int types_compare_enum(struct type_change *change, struct uspl_err *err) uspl_must_check;
/* Does an enumerator's name say that it counts the others: "NSTATES", "STATE_MAX", "kNumStates"? */
bool types_is_count(const char *name);
/* The highest value among an enumeration's enumerators. */
int64_t types_highest(Dwarf_Die *type);

#endif
