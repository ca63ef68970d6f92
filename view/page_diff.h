/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page_diff.h - two columns of lines on a page: what was, and what is */
#ifndef USPL_VIEW_PAGE_DIFF_H
#define USPL_VIEW_PAGE_DIFF_H

#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"

struct page_line {
	uint64_t number; /* of a line; an offset, of an instruction */
	char *text;
};

typedef VEC(struct page_line) page_lines;

/* Frees the lines and their texts. */
void page_lines_release(page_lines *lines);
DEFINE_AUTO_RELEASE(page_lines, page_lines, page_lines_release)
#define auto_page_lines __attribute__((cleanup(cleanup_page_lines_)))
/*
 * Appends a table of instructions with those that are the same beside each other. Addresses in them
 * don't count.
 */
int page_diff_add(const page_lines *was, const page_lines *is, struct buf *out,
		  struct uspl_err *err) uspl_must_check;
/*
 * Appends a table for each hunk of a unified diff. What isn't in a hunk (a mail's head, names of
 * files) stands as it is.
 */
int page_diff_add_patch(const char *patch, size_t len, struct buf *out,
			struct uspl_err *err) uspl_must_check;

#endif
