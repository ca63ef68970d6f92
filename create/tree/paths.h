/* SPDX-License-Identifier: GPL-3.0-or-later */
/* paths.h - where the copy is, and all that belongs to it */
#ifndef USPL_CREATE_TREE_PATHS_H
#define USPL_CREATE_TREE_PATHS_H

#include "base/types.h"

struct build_options;
struct prebuild;
struct uspl_err;

/* The folders of one run; all absolute and without symbolic links. */
struct build_paths {
	char *source;       /* the user's tree */
	const char *origin; /* as in build_options */
	char *work;         /* the work folder, with the copy in it: */
	char *tree;         /* WORK/tree */
	int lock;           /* held as long as the work folder is this run's alone; -1: it isn't */
};

/* The root of the user's tree, absolute and without symbolic links; the caller frees it. */
int paths_find_source(const char *source, char **ret, struct uspl_err *err) uspl_must_check;

/* Refuses a folder in which nothing can be built (USPL_E_USAGE), and removes it if it is empty. */
int paths_check_folder(const char *folder, struct uspl_err *err) uspl_must_check;
/*
 * Sets work and tree. A work folder of this run alone is made; prebuild_use makes the one in the
 * folder of a prebuild that is open.
 */
int paths_find(const struct build_options *options, const struct prebuild *prebuild,
	       struct build_paths *ret, struct uspl_err *err) uspl_must_check;
void paths_release(struct build_paths *paths);

#endif
