/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refname.h - the names by which an update's two ELF files and the running program speak of the
 * same thing
 *
 * A global symbol is called by its own name: "parse". A local one by its compilation unit and its
 * name: "src/proto.c:parse". The unit is the source path relative to the tree's root, as it stands
 * in the manifest.
 */
#ifndef USPL_OBJFILE_REFNAME_H
#define USPL_OBJFILE_REFNAME_H

#include "base/types.h"

/* "unit:name", allocated; NULL when out of memory. */
char *refname_local(const char *unit, const char *name);
/* The symbol's own name within a refname; points into it. */
const char *refname_symbol(const char *ref);
/* True if ref names a local symbol. */
bool refname_is_local(const char *ref);
/*
 * True if `ref` is local and its unit's file name (without folders) is `file`, as an STT_FILE
 * symbol gives it.
 */
bool refname_in_file(const char *ref, const char *file);

#endif
