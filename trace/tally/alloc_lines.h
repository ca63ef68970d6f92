/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alloc_lines.h - the report of the tracer 'alloc' */
#ifndef USPL_TRACE_TALLY_ALLOC_LINES_H
#define USPL_TRACE_TALLY_ALLOC_LINES_H

#include "trace/tally/alloc_sums.h"

/* Appends it for people: sums, the call sites with the most that is live, sizes. */
void alloc_add_text(struct tally *tally, const struct alloc_sums *sums, struct buf *out);
/* Appends a JSON object with the sums, one for each call site, and one for each class of sizes. */
void alloc_add_json(struct tally *tally, const struct alloc_sums *sums, struct buf *out);

#endif
