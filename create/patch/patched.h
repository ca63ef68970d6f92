/* SPDX-License-Identifier: GPL-3.0-or-later */
/* patched.h - patched sources whose unchanged lines have their old numbers */
#ifndef USPL_CREATE_PATCH_PATCHED_H
#define USPL_CREATE_PATCH_PATCHED_H

#include <time.h>

#include "base/strvec.h"
#include "create/tree/lines.h"
#include "create/tree/tree.h"

struct build_paths;
struct strmap;

/* A patched source in which there are line directives. */
struct plain_file {
	char *path;
	struct buf text;      /* as the diffs left it */
	struct buf numbered;  /* with directives, while they are taken out */
	struct timespec time; /* of that */
};

typedef VEC(struct plain_file) plain_files;

/* A patched source as it was compiled after the last patch that touched it. */
struct compiled_file {
	char *path;
	struct buf text;
	struct lines_kept kept; /* what that patch did to its line numbers */
};

typedef VEC(struct compiled_file) compiled_files;

/* What is known of the line numbers of patched sources. */
struct numbering {
	plain_files plain;
	compiled_files compiled;
};

/*
 * Writes those of the patched files that are C or C++ anew, with directives by which unchanged
 * lines keep the numbers that they have had until now (lines.h). Takes these into ret.
 */
int patched_renumber(const struct build_paths *paths, const struct strmap *originals,
		     const strvec *patched, struct numbering *ret,
		     struct uspl_err *err) uspl_must_check;
/* Writes the files as the diffs left them: the directives are in the way of the compiler. */
int patched_give_up(struct numbering *numbering, struct uspl_err *err) uspl_must_check;
/* The same for a while, until patched_put_back. */
int patched_take_out(plain_files *plain, struct uspl_err *err) uspl_must_check;
/*
 * After the next diff: files that it touched are no longer ours, all others become what they were,
 * with their times.
 */
int patched_put_back(plain_files *plain, const strvec *patched,
		     struct uspl_err *err) uspl_must_check;
void patched_release(plain_files *plain);
void patched_release_numbering(struct numbering *numbering);

#endif
