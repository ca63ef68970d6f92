/* SPDX-License-Identifier: GPL-3.0-or-later */
/* suggest.h - what an author could write where a new member is refused */
#ifndef USPL_CREATE_VET_SUGGEST_H
#define USPL_CREATE_VET_SUGGEST_H

#include "create/vet/types_changed.h"

/*
 * Appends to the report's suggestion, for each new member of a structure, the code that keeps it in
 * a shadow variable (uspl/shadow.h), the lines of the patch that use it, as they would be then, and
 * the places where objects are freed, and where code goes by one as a whole. It goes by the text:
 * the author has to read it.
 */
int suggest_shadows(const struct diff *diff, struct type_change *change,
		    struct uspl_err *err) uspl_must_check;

#endif
