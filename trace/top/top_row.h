/* SPDX-License-Identifier: GPL-3.0-or-later */
/* top_row.h - a line of a table of functions: what it can be sorted and filtered by */
#ifndef USPL_TRACE_TOP_TOP_ROW_H
#define USPL_TRACE_TOP_TOP_ROW_H

#include "base/vec.h"
#include "trace/output/names.h"

enum top_key { TOP_SELF, TOP_CALLS, TOP_TOTAL, TOP_AVG, TOP_P99, TOP_MAX, TOP_NAME };

/* A function. Times in ns. */
struct top_row {
	uint32_t id;
	bool chosen; /* by the filter */
	uint64_t calls, open;
	double self, total;
	double avg, p99; /* 0: no call is over */
	double max;
};

typedef VEC(struct top_row) top_row_vec;

/*
 * Puts the rows in order: those of names that have the filter in them, or match it if it is a glob,
 * come first, the largest at the beginning. Returns how many these are; "" is in all names.
 */
size_t top_row_sort(top_row_vec *rows, const struct trace_names *names, enum top_key key,
		    const char *filter);
/* The key that is called so. USPL_E_USAGE, with those that there are. */
int top_key_find(const char *name, enum top_key *ret, struct uspl_err *err) uspl_must_check;
const char *top_key_name(enum top_key key);
/* False if no key has that letter on a screen. */
bool top_key_by_letter(int letter, enum top_key *ret);
/* What stands at the end of a table's line, and above it: times, open calls, the function. */
void top_row_add_head(struct buf *out);
void top_row_add(const struct top_row *row, const struct trace_names *names, struct buf *out);
void top_row_add_name(const struct trace_names *names, uint32_t id, struct buf *out);

#endif
