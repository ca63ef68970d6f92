/* SPDX-License-Identifier: GPL-3.0-or-later */
/* suggest_text.h - looking for members and objects in the text of sources */
#ifndef USPL_CREATE_VET_SUGGEST_TEXT_H
#define USPL_CREATE_VET_SUGGEST_TEXT_H

#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"

/* A line that a diff adds. */
struct added_line {
	char *file; /* relative to the tree */
	size_t line;
	char *text; /* without its end */
};

typedef VEC(struct added_line) added_lines;

/* Appends all lines that the diff adds. */
int suggest_added_lines(const char *diff, added_lines *ret, struct uspl_err *err) uspl_must_check;
void suggest_release_lines(added_lines *lines);
DEFINE_AUTO_RELEASE(added, added_lines, suggest_release_lines)
#define auto_added __attribute__((cleanup(cleanup_added_)))

/*
 * Appends the line with each "X->member" as "(*getter(X))", and "X.member" as "(*getter(&X))".
 * False, and nothing, if it has none.
 */
bool suggest_rewrite(const char *line, const char *member, const char *getter, struct buf *out);
/* The constant that a line assigns to the member: "30", "NULL". The caller frees it; NULL: none. */
char *suggest_constant(const char *line, const char *member);
/*
 * The line as a typedef, if it declares this member and nothing else: "typedef long name;". The
 * caller frees it; NULL: it doesn't.
 */
char *suggest_typedef(const char *line, const char *member, const char *name);

/* A place where a pointer to an object of the type is freed; the texts lie in the source. */
struct freed_place {
	size_t line;
	const char *text; /* the line */
	size_t text_len;
	const char *object; /* the pointer's name */
	size_t object_len;
};

typedef VEC(struct freed_place) freed_places;

/* Appends those of a source. type: "struct conn". Only pointers with a name are seen. */
int suggest_freed(const char *source, const char *type, freed_places *ret,
		  struct uspl_err *err) uspl_must_check;

/*
 * Does this line of a source go by the whole of an object of the type: its size, or a copy by "="?
 * Such lines make, clear, copy or move objects, or count them.
 */
bool suggest_takes_whole(const char *source, const char *line, const char *end, const char *type);

#endif
