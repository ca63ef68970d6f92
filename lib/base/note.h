/* SPDX-License-Identifier: GPL-3.0-or-later */
/* note.h - ELF notes */
#ifndef USPL_BASE_NOTE_H
#define USPL_BASE_NOTE_H

#include "base/types.h"

/* One note; all of it points into the notes. */
struct note {
	uint32_t type;
	const char *owner; /* with its NUL, if it has one */
	size_t owner_len;
	const uint8_t *desc;
	size_t desc_len;
};

/*
 * The note at *at of len bytes of notes; *at is moved behind it. False at the end, or where the
 * notes are damaged. align is the segment's or section's: 8 in a segment of .note.gnu.property,
 * else 4 (System V gABI, "Note Section").
 */
bool note_next(const uint8_t *notes, size_t len, uint64_t align, size_t *at, struct note *ret);
/* True if the note is of this owner and type. */
bool note_is(const struct note *note, const char *owner, uint32_t type);
/*
 * The build-id (NT_GNU_BUILD_ID) among len bytes of notes, in hex and allocated; NULL if there is
 * none.
 */
char *note_build_id(const uint8_t *notes, size_t len, uint64_t align);
/*
 * The build-id in an ELF file for this processor, in hex and allocated; NULL if it has none. Reads
 * no more than a bounded number of bytes of the notes.
 */
char *note_read_build_id(int fd);

#endif
