/* SPDX-License-Identifier: GPL-3.0-or-later */
/* literal.h - which literal of a merged section a reference means */
#ifndef USPL_CREATE_UNIT_LITERAL_H
#define USPL_CREATE_UNIT_LITERAL_H

#include "base/types.h"

struct objrel;
struct objsec;
struct objsym;

/* True if a section holds strings that linkers merge. */
bool literal_is_string(const struct objsec *sec);
/*
 * True if a reference to a merged literal, by the literal's own symbol, leads to a place outside
 * it.
 */
bool literal_is_left(const struct objsec *from, const struct objrel *rel);
/* True, after normalise, for the symbol of such a reference. It has no name that means anything. */
bool literal_is_anchor(const struct objsym *sym);

#endif
