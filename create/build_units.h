/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * build_units.h - what build_units.c collects, build_checks.c checks, build_links.c makes units of
 */
#ifndef USPL_CREATE_BUILD_UNITS_H
#define USPL_CREATE_BUILD_UNITS_H

#include "create/build_parts.h"

/* A program or library that was linked, and of what in each build. */
struct program {
	char *path;
	struct build_link link; /* what is known of the file, and its units */
	input_list pre, post;
	bool in_post;       /* linked in the build after the patch too */
	const char *linked; /* then as what it was kept; NULL if it wasn't */
};

struct units {
	const struct build_paths *paths;
	struct build *build;   /* to be filled */
	record_list pre, post; /* of all builds up to the patch, and of the one after it */
	unsigned step;         /* of the build after the patch */
	struct makers makers;
	/* Objects that the first build made of several sources, one after the other. */
	struct strmap shared;
	VEC(struct program) programs;
	bool new_options;    /* the patch changes files that say how to build */
	struct strmap known; /* "has-pre has-post OBJECT" -> index of the build_unit, plus 1 */
};

/* A path without the copy's folder; the path itself if it lies elsewhere. Points into path. */
const char *units_relative(const struct units *units, const char *path);
/* The object's last compilation before the patch, NULL if there was none. */
const struct record *units_pre_record(const struct units *units, const char *object);
/* The object's compilation after the patch, NULL if there was none. */
const struct record *units_post_record(const struct units *units, const char *object);
/* The input with that name, NULL if it isn't there. */
const struct input *input_find(const input_list *inputs, const char *name);

/* Takes in the records of the build after the patch; `build` is what will be filled. */
int units_read_post(struct units *units, struct build *build, struct uspl_err *err) uspl_must_check;
/* True if one of the records is of a compilation. */
bool units_compiled(const record_list *records);

/*
 * Refuses a build after the patch that went past us, or left out what the patch changes; what it
 * generated anew is noted.
 */
int units_check(const struct units *units, const tree_files *patched,
		struct uspl_err *err) uspl_must_check;

#endif
