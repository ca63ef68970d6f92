/* SPDX-License-Identifier: GPL-3.0-or-later */
/* note.h - ELF notes */
#ifndef USPL_BASE_NOTE_H
#define USPL_BASE_NOTE_H

#include "base/types.h"

/*
 * The build-id (NT_GNU_BUILD_ID) among len bytes of notes, in hex and allocated; NULL if there is
 * none. align is the segment's p_align: 8 in a segment of .note.gnu.property, else 4 (System V
 * gABI, "Note Section").
 */
char *note_build_id(const uint8_t *notes, size_t len, uint64_t align);

#endif
