/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lines_map.h - from the numbers that the compiler has counted back to the lines of the text
 *
 * lines.h says why they differ in a patched source.
 */
#ifndef USPL_CREATE_TREE_LINES_MAP_H
#define USPL_CREATE_TREE_LINES_MAP_H

#include "create/tree/lines.h"

struct numbered_line {
	size_t number, line; /* as the compiler counts it, and in the text, from 1 */
};

struct numbered_source {
	char *path; /* relative to the tree */
	/* without directives, as the patches have left it */
	struct buf text;
	VEC(struct numbered_line) lines; /* sorted by number */
};

/* The patched sources. */
typedef VEC(struct numbered_source) lines_map;

/* Adds a source as it was compiled; numbered: with directives of lines_renumber. */
int lines_map_add(lines_map *map, const char *path, const struct buf *compiled, bool numbered,
		  struct uspl_err *err) uspl_must_check;
/* The patched source with that path, or NULL. */
const struct numbered_source *lines_map_find(const lines_map *map, const char *path);
/* The line that has the number; the number itself if none has it. */
size_t lines_map_line(const struct numbered_source *source, size_t number);
void lines_map_release(lines_map *map);

#endif
