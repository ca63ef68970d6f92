/* SPDX-License-Identifier: GPL-3.0-or-later */
/* normalise.h - one form for each kind of reference */
#ifndef USPL_CREATE_UNIT_NORMALISE_H
#define USPL_CREATE_UNIT_NORMALISE_H

#include "base/types.h"

struct side;
struct uspl_err;

/*
 * Gives each reference its one form: by the symbol for a function as something to call and for a
 * named variable, by the section for literals and for places within code.
 */
int normalise(struct side *side, struct uspl_err *err) uspl_must_check;

#endif
