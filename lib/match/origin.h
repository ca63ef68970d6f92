/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * origin.h - what a program was made with, and why code made from its source may differ
 *
 * A program's file tells its compiler (.comment) and the options of each of its units
 * (DW_AT_producer), if neither was stripped, or of all (.GCC.command.line), if it was built so. The
 * update knows both of its own code.
 */
#ifndef USPL_MATCH_ORIGIN_H
#define USPL_MATCH_ORIGIN_H

#include "base/cleanup.h"
#include "match/match.h"

/* Each is NULL if it isn't known. */
struct origin {
	char *compiler; /* "GCC: (Debian 12.2.0-14) 12.2.0"; of a program all, with ", " between */
	char *producer; /* of a unit: "GNU C17 12.2.0 -mtune=generic -O2 ..." */
};

/* Of the image's file; the producer is that of the unit with this source file. */
void origin_of_image(const struct image *image, const char *unit, struct origin *ret);
void origin_release(struct origin *origin);
DEFINE_AUTO_RELEASE(origin, struct origin, origin_release)
#define auto_origin __attribute__((cleanup(cleanup_origin_)))

/*
 * The options that only one of two producers has, each list in the producer's order with blanks
 * between; options that don't show in the code are left out. Both are the caller's to free.
 */
struct buf;
void origin_options(const char *one, const char *other, struct buf *only_one,
		    struct buf *only_other);

/*
 * Gives a failed match that has no hint yet the likely reason as its hint: another compiler, other
 * options, or another source, in this order. update is what the pre code was made with. False if
 * nothing but the match itself speaks for it.
 */
bool origin_explain(const struct match *match, const struct origin *update,
		    const struct origin *program, struct uspl_err *err);

#endif
