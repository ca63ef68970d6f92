/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * optimised.h - units that link-time optimisation has made, of all sources of a program at once
 *
 * Such a unit has no source of its own; its name ends in what the compiler calls it,
 * "<artificial>" (gcc), "ld-temp.o" (LLVM). Static functions and variables of one name come
 * together in it from several sources. gcc tells them apart by a number, "name.lto_priv.3", which
 * is another one as soon as one more or less is in front; and it numbers those, too, that code in
 * another part of the program uses. LLVM calls them "name.3", or "name.llvm.HASH". So the number
 * is taken off, and each is known by its name and by the source that it is from, as the debugging
 * information has it.
 */
#ifndef USPL_CREATE_UNIT_OPTIMISED_H
#define USPL_CREATE_UNIT_OPTIMISED_H

#include "base/error.h"

struct buf;
struct objfile;
struct objsym;
struct side;

/*
 * Makes symbols local that were static in their source: other parts of the same program's code use
 * them, which are all in this object.
 */
void optimised_localise(const struct objfile *obj);
/* Gives symbols the names that they have in their sources; syminfo.linked keeps the others. */
int optimised_rename(const struct side *side, struct uspl_err *err) uspl_must_check;
/*
 * The source that a function or variable is from: of such a unit what the debugging information
 * says, else the unit's. The text is put into buf, which must be empty.
 */
const char *optimised_source(const struct objsym *sym, struct buf *buf);
/* Sets syminfo.origin of local functions and variables, as far as it is known. */
int optimised_find_origins(struct side *side, struct uspl_err *err) uspl_must_check;

#endif
