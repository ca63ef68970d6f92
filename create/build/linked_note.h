/* SPDX-License-Identifier: GPL-3.0-or-later */
/* linked_note.h - build-id and soname of what was linked */
#ifndef USPL_CREATE_BUILD_LINKED_NOTE_H
#define USPL_CREATE_BUILD_LINKED_NOTE_H

#include "base/types.h"

struct build_link;
struct uspl_err;

/*
 * Appends the build-id (hex) of an ELF file to link->build_ids, unless it is there already; sets
 * link->soname. A file without them, or none at all, is fine.
 */
int linked_note(struct build_link *link, const char *path, struct uspl_err *err) uspl_must_check;
/* True if two files have the same bytes; false, too, if one of them can't be read. */
bool linked_same_bytes(const char *a, const char *b);
/* True for an ELF program or shared library. */
bool linked_is_program(const char *path);

#endif
