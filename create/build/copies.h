/* SPDX-License-Identifier: GPL-3.0-or-later */
/* copies.h - copies of sources that the build has made, and compiles */
#ifndef USPL_CREATE_BUILD_COPIES_H
#define USPL_CREATE_BUILD_COPIES_H

#include "base/strmap.h"
#include "base/strvec.h"

struct uspl_err;
struct units;

/* Which files are copies of which. Paths are absolute, in the copy of the tree. */
struct copies {
	struct strmap of;  /* a source of the tree -> the list of its copies */
	struct strmap all; /* each copy */
};

/*
 * Finds them, after the build before the patch has been taken in: what was compiled, isn't in the
 * user's tree, and has the name and the bytes of one file that is, and of no other.
 */
int copies_find(const struct units *units, struct copies *ret,
		struct uspl_err *err) uspl_must_check;
void copies_release(struct copies *copies);

/* Makes the copies of patched files what these are now, and appends their paths to the list. */
int copies_follow(const struct copies *copies, strvec *patched,
		  struct uspl_err *err) uspl_must_check;

#endif
