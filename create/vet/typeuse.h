/* SPDX-License-Identifier: GPL-3.0-or-later */
/* typeuse.h - what uses a type, and whether objects of it can outlive the functions that change */
#ifndef USPL_CREATE_VET_TYPEUSE_H
#define USPL_CREATE_VET_TYPEUSE_H

#include "create/vet/types_changed.h"

struct type_use {
	bool local;       /* objects of it live only while functions run that the update replaces */
	bool seen;        /* there are objects of it, by value */
	bool end_used;    /* a class derived from it, or a structure around it, uses its padding */
	struct buf users; /* the first functions and variables that use it: "'f', 'g'" */
	size_t n_users;
};

/*
 * Finds out what uses the old form of a changed type, in all units of the diff and the quiet ones.
 */
int typeuse_find(const struct diff *diff, struct type_change *change, struct type_use *ret,
		 struct uspl_err *err) uspl_must_check;
/* Frees what typeuse_find has filled in. */
void typeuse_release(struct type_use *use);
DEFINE_AUTO_RELEASE(typeuse, struct type_use, typeuse_release)
#define auto_typeuse __attribute__((cleanup(cleanup_typeuse_)))

/* Code or data of a side that holds a function's address, not only calls it; NULL if none does. */
const struct objsec *typeuse_find_address(const struct side *side, const struct objsym *function);

#endif
