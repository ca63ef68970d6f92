/* SPDX-License-Identifier: GPL-3.0-or-later */
/* patch.h - applying diffs */
#ifndef USPL_CREATE_PATCH_PATCH_H
#define USPL_CREATE_PATCH_PATCH_H

#include "base/types.h"
#include "base/vec.h"

struct buf;
struct uspl_err;

/* A diff. */
struct patch_file {
	const char *name;   /* as the user calls it, for messages */
	const char *option; /* the user's for patch(1), NULL if none */
	size_t text, len;   /* its place in the text of all diffs */
	char *path;         /* the file in the work folder that it was written to */
	/* How it wants to be applied, which patches_try finds out. */
	bool no_strip; /* with -p0 */
	bool binary;   /* with --binary: line ends count */
	bool reverse;  /* it is taken out */
	bool exact;    /* with all its context, or not at all */
	bool dry_run;  /* nothing is written */
	bool in_tree;  /* of a series: the tree has it already, as patches_try found out */
};

typedef VEC(struct patch_file) patch_files;

/* True if the user's option says how many folders to take off names. */
bool patch_sets_strip(const struct patch_file *patch);
/* Applies a diff to the tree. On failure the message names file and hunk. */
int patch_apply(const char *tree, const struct patch_file *patch,
		struct uspl_err *err) uspl_must_check;

#endif
