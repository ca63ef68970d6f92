/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff_read.h - reading diffs */
#ifndef USPL_CREATE_PATCH_DIFF_READ_H
#define USPL_CREATE_PATCH_DIFF_READ_H

#include "base/types.h"

struct buf;
struct strmap;
struct uspl_err;

/*
 * Appends the text of a diff ("-": standard input) to buf, after a check: USPL_E_FILE if it holds
 * no unified diff, USPL_E_HOSTILE if a name in it leads out of the tree.
 */
int diff_read(const char *path, struct buf *buf, struct uspl_err *err) uspl_must_check;
/* Adds the names of files that stand in a text of diffs, as keys; their values mean nothing. */
int diff_names(const char *text, struct strmap *names, struct uspl_err *err) uspl_must_check;

/*
 * The same check as diff_read, of a text; USPL_E_UNSUPPORTED if it changes a file that isn't text.
 */
int diff_check(const char *name, const char *text, struct uspl_err *err) uspl_must_check;

/* The lines that are still to come in a hunk. Zero-initialise. */
struct diff_hunk {
	unsigned long before, after;
};

/*
 * True if the line belongs to a hunk; one that begins a hunk doesn't. Must be asked of each line.
 */
bool diff_in_hunk(struct diff_hunk *hunk, const char *line);
/* True for a line that says of a file that it isn't text. */
bool diff_is_binary(const char *line);

#endif
