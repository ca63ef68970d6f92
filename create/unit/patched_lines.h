/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * patched_lines.h - the source lines that a diff changes, and which code is theirs
 *
 * The compiler counts lines so that unchanged ones keep their numbers (lines.h). So a line of
 * code is a changed one if it has a number of its own, or that of a line which the diff takes away.
 */
#ifndef USPL_CREATE_UNIT_PATCHED_LINES_H
#define USPL_CREATE_UNIT_PATCHED_LINES_H

#include "create/unit/dbginfo.h"

struct patched_lines;

/*
 * Reads a diff. Of a file that it changes twice nothing is known: the second change counts lines as
 * the first one has left them.
 */
int patched_lines_read(const char *diff, struct patched_lines **ret,
		       struct uspl_err *err) uspl_must_check;
void patched_lines_free(struct patched_lines *lines);

/* A changed line that code comes from, and what of it is known. */
struct patched_code {
	uint64_t offset; /* of the first such instruction */
	size_t line;     /* for patched_lines_show */
};

/*
 * Finds the first code of a section that comes from a changed line; inlined: from that function
 * (NULL: from any, or its own). False: there is none, or lines is NULL.
 */
bool patched_lines_find(const struct patched_lines *lines, struct dbginfo *dbg,
			const struct objsec *sec, const char *inlined, struct patched_code *ret);
/* True if the diff takes the old line away, or puts another one in its place. */
bool patched_lines_changed(const struct patched_lines *lines, const char *file, int line);
/*
 * True if the diff takes the old line of one file away and puts the new one in its place, with
 * nothing that stays between them.
 */
bool patched_lines_together(const struct patched_lines *lines, const char *old_file, int old_line,
			    const char *new_file, int new_line);
/*
 * Appends the line as it was and as it is: "src/proto.c:12:" and a line for each. Of a run of
 * changed lines the first two that differ in more than blanks.
 */
void patched_lines_show(const struct patched_lines *lines, size_t line, struct buf *ret);

#endif
