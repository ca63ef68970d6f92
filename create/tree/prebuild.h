/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prebuild.h - the build before the patch, kept and used again */
#ifndef USPL_CREATE_TREE_PREBUILD_H
#define USPL_CREATE_TREE_PREBUILD_H

#include "base/buf.h"

struct build_paths;
struct recipe;
struct uspl_err;

/* A folder in which the build before the patch is kept. */
struct prebuild {
	char *folder; /* NULL: nothing is kept */
	int lock;
	bool usable;      /* what is there can be used */
	struct buf state; /* what a build depends on now */
};

/*
 * Opens the folder for this run alone, and makes it if it isn't there. USPL_E_FILE if another
 * uspl-create works in it; a folder with other things in it is refused.
 */
int prebuild_open(const char *folder, struct prebuild *ret, struct uspl_err *err) uspl_must_check;
void prebuild_close(struct prebuild *prebuild);

/*
 * Finds out if the build that is kept is the one that would be made now, and then brings the tree
 * to the state after it. If not, empties the work folder; *ret_why_not, which the caller frees,
 * then says what is different, and stays as it is if there was no build.
 */
int prebuild_use(struct prebuild *prebuild, const struct build_paths *paths,
		 const struct recipe *recipe, char **ret_why_not,
		 struct uspl_err *err) uspl_must_check;

/* Keeps the build that was just made. */
int prebuild_save(const struct prebuild *prebuild, const struct build_paths *paths,
		  struct uspl_err *err) uspl_must_check;

#endif
