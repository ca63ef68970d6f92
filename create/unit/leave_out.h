/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * leave_out.h - what a unit's object defines, but the program doesn't have from it
 *
 * Such a definition is made an undefined symbol before anything is compared, as if the unit only
 * referred to it: where another unit's function overrides a weak one, the other unit's counts. What
 * the linker left out is new when new code comes to need it.
 */
#ifndef USPL_CREATE_UNIT_LEAVE_OUT_H
#define USPL_CREATE_UNIT_LEAVE_OUT_H

#include "base/strmap.h"
#include "create/unit/linked.h"

/* A definition that the linker takes for a name. */
struct winner;

/* Zero-initialise, then set units, n and linked. */
struct leave_out {
	const struct diff_unit *units; /* in the order in which the linker took them */
	size_t n;
	const struct linked *linked; /* before the patch; NULL: not known */
	struct {
		bool known;
		struct strmap winners; /* global name -> struct winner */
	} sides[2];                    /* before the patch and after */
};

/*
 * Makes undefined what the unit with this index defines and the program of that build doesn't have
 * from it: for the build before the patch by what the linked program says, for both by their weak
 * symbols.
 */
int leave_out_absent(struct leave_out *state, size_t index, bool post, struct objfile *obj,
		     struct uspl_err *err) uspl_must_check;
/* *ret: the index of the unit that defines the global name after the patch; n if none does. */
int leave_out_definer(struct leave_out *state, const char *name, size_t *ret,
		      struct uspl_err *err) uspl_must_check;
void leave_out_release(struct leave_out *state);

#endif
