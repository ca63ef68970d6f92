/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page.h - a trace as a page for a browser */
#ifndef USPL_TRACE_OUTPUT_PAGE_H
#define USPL_TRACE_OUTPUT_PAGE_H

#include "base/json.h"

struct calltree;
struct trace_log;

/* What the page says of a trace or of an observation; page.js has the form of the rest. */
struct page_head {
	const char *command, *tracer;
	pid_t pid;
	uint64_t overwritten, unrecorded, kernel_lost;
};

/* Opens the page's data, an object, and writes the head into it. */
void page_open(struct json *json, const struct page_head *head);
/* Closes the data, and appends the page that shows them. */
void page_close(struct json *json, struct buf *out);
/* Appends a whole page of chains that were counted; unit says what was: "samples". */
void page_add_tree(const struct calltree *tree, const struct page_head *head, const char *unit,
		   struct buf *out);

#endif
