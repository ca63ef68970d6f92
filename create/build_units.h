/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * build_units.h - what build_units.c collects and build_links.c makes units of
 */
#ifndef USPL_CREATE_BUILD_UNITS_H
#define USPL_CREATE_BUILD_UNITS_H

#include "create/build_parts.h"

/* A program or library that was linked, and of what in each build. */
struct program {
	char *path;
	struct build_link link; /* handed on to the build at the end */
	input_list pre, post;
	bool in_post; /* linked in the second build too */
};

struct units {
	struct build *build;
	const struct build_paths *paths;
	record_list pre, post;
	struct makers makers;
	VEC(struct program) programs;
	bool new_options;    /* the patch changes files that say how to build */
	struct strmap known; /* "has-pre has-post OBJECT" -> index of the build_unit, plus 1 */
};

/* A path without the copy's folder; the path itself if it lies elsewhere. Points into path. */
const char *units_relative(const struct units *units, const char *path);
/* The object's compilation in the second build, NULL if there was none. */
const struct record *units_post_record(const struct units *units, const char *object);
/* The input with that name, NULL if it isn't there. */
const struct input *input_find(const input_list *inputs, const char *name);

/* Fills build->units and build->links, when both builds are taken in. */
int units_finish(struct units *units, struct uspl_err *err) uspl_must_check;

#endif
