/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree_formats.h - the forms of output that are made of call chains which were counted */
#ifndef USPL_TRACE_OUTPUT_TREE_FORMATS_H
#define USPL_TRACE_OUTPUT_TREE_FORMATS_H

#include "trace/output/calltree.h"

struct format;
struct page_head;

/* True for folded, svg and html. */
bool tree_has_format(const struct format *format);
/* Appends the chains in such a form; unit is what was counted: "samples". */
void tree_add(const struct format *format, const struct calltree *tree,
	      const struct page_head *head, const char *unit, struct buf *out);

#endif
