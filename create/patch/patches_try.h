/* SPDX-License-Identifier: GPL-3.0-or-later */
/* patches_try.h - finds out before the first build whether all diffs apply, and how */
#ifndef USPL_CREATE_PATCH_PATCHES_TRY_H
#define USPL_CREATE_PATCH_PATCHES_TRY_H

#include "create/patch/patch.h"
#include "create/tree/build.h"

struct build_paths;
struct strmap;
struct uspl_err;

/*
 * Copies the files of the tree with these names to a folder, which is made: under each name that is
 * left when leading folders are taken off.
 */
int patches_copy_named(const char *tree, const struct strmap *names, const char *folder,
		       struct uspl_err *err) uspl_must_check;

/*
 * Finds out how each of the diffs wants to be applied, on top of those before it, without touching
 * the tree. text is that of all of them. USPL_E_BUILD: one doesn't apply; the message names it. Of
 * a series those that the tree has already are marked.
 */
int patches_try(const struct build_paths *paths, const char *text, bool series,
		patch_files *patches, struct uspl_err *err) uspl_must_check;

/*
 * Refuses updates that are said to come before, and whose patches the tree lacks
 * (USPL_E_UNSUPPORTED). A patch that neither comes out nor goes in may be in, and changed by
 * another one.
 */
int patches_check_earlier(const struct build_paths *paths, const build_earlier_list *list,
			  struct uspl_err *err) uspl_must_check;

#endif
