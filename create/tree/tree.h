/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree.h - the private copy of the source */
#ifndef USPL_CREATE_TREE_TREE_H
#define USPL_CREATE_TREE_TREE_H

#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/types.h"
#include "base/strvec.h"

struct buf;
struct build_paths;
struct strmap;
struct uspl_err;

/*
 * Copies paths->source to paths->tree, which is made: files with their modes and times, symbolic
 * links as they are, except that those into the tree lead into the copy. Left out: version control
 * folders, what is neither file, folder nor link, and the work folder if it lies in the tree.
 */
int tree_copy(const struct build_paths *paths, struct uspl_err *err) uspl_must_check;

/* True for the name of a C, C++ or assembler source, or of a header. */
bool tree_is_source(const char *name);
/* True for the name of a C or C++ source, or of a header. */
bool tree_is_c(const char *name);

/*
 * Gives all sources and headers in the copy one new time, so that every object and program that
 * came with it is out of date and is made again, while none of them is newer than another.
 */
int tree_renew_sources(const char *tree, struct uspl_err *err) uspl_must_check;

/* Writes a file anew, with the mode that it had. */
int tree_rewrite(const char *path, const struct buf *text, struct uspl_err *err) uspl_must_check;

typedef int (*tree_visit)(const char *path, const struct stat *st, void *ctx, struct uspl_err *err);
/* Calls visit for every regular file below a folder, those of version control left out. */
int tree_walk(const char *path, tree_visit visit, void *ctx, struct uspl_err *err) uspl_must_check;

/*
 * Notes all files of the tree by their inodes, for tree_changed. C and C++ sources that aren't
 * among the originals yet are kept as they are, for tree_original.
 */
int tree_snapshot(const struct build_paths *paths, struct strmap *inodes, struct strmap *originals,
		  struct uspl_err *err) uspl_must_check;
/* Appends what a source was in the first snapshot that had it; nothing if no snapshot has it. */
int tree_original(const struct build_paths *paths, const struct strmap *originals, const char *path,
		  struct buf *ret, struct uspl_err *err) uspl_must_check;
/* Appends the files that were made or replaced since the snapshot. */
int tree_changed(const char *tree, const struct strmap *inodes, strvec *ret,
		 struct uspl_err *err) uspl_must_check;

#endif
