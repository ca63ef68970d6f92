/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sections.h - a diff as a run of sections, one for each file */
#ifndef USPL_CREATE_PATCH_SECTIONS_H
#define USPL_CREATE_PATCH_SECTIONS_H

#include "base/types.h"
#include "base/vec.h"

struct buf;
struct uspl_err;

/* What a diff says of one file. Points into its text. */
struct section {
	const char *start, *end;
	const char *from, *to; /* the names after "--- " and "+++ "; NULL if there are none */
	const char *git;       /* what follows "diff --git " */
	bool binary, is_new, is_gone;
};

typedef VEC(struct section) section_list;

/* Appends the sections of a diff; what stands in front of the first is in none. */
int sections_split(const char *text, section_list *ret, struct uspl_err *err) uspl_must_check;
/* The file that a section is about, "" if that isn't said; the caller frees it. */
char *section_name(const struct section *section);
/* The same, before it was renamed. */
char *section_old_name(const struct section *section);
/* Where its hunks begin; NULL if it has none. */
const char *section_hunks(const struct section *section);
/* Appends the lines that a section adds (sign '+') or takes away ('-'). */
void section_lines(const struct section *section, char sign, struct buf *ret);

#endif
