/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff_arrange.h - diffs as people send them, made into what can be applied to this tree */
#ifndef USPL_CREATE_PATCH_DIFF_ARRANGE_H
#define USPL_CREATE_PATCH_DIFF_ARRANGE_H

#include "base/types.h"

struct buf;
struct build;
struct build_paths;
struct patch_file;
struct uspl_err;

/* A patch among the files that a diff changes or adds; the caller frees it. NULL: there is none. */
char *diff_brings_patch(const char *text);

/*
 * Appends to ret what of a diff's text can be applied to the tree: without files other than sources
 * that the tree lacks, which are noted; of a diff of a package with patches, what these change.
 */
int diff_arrange(const struct patch_file *patch, const struct build_paths *paths, const char *text,
		 struct buf *ret, struct build *notes, struct uspl_err *err) uspl_must_check;

#endif
