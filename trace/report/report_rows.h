/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report_rows.h - the lines of uspl-trace report: what they are sorted by, as text and as JSON */
#ifndef USPL_TRACE_REPORT_REPORT_ROWS_H
#define USPL_TRACE_REPORT_REPORT_ROWS_H

#include "trace/log/totals.h"

struct json;
struct reader;

/* What rows can be sorted by: the largest comes first. */
enum report_key {
	REPORT_SELF,
	REPORT_CALLS,
	REPORT_TOTAL,
	REPORT_MIN,
	REPORT_AVG,
	REPORT_P99,
	REPORT_MAX
};

/* The key of that name; USPL_E_USAGE, naming all, if there is none. */
int report_find_key(const char *name, enum report_key *ret, struct uspl_err *err) uspl_must_check;
/* Its value, in calls or ticks. */
double report_value(const struct totals *totals, enum report_key key);
void report_sort(totals_vec *all, enum report_key key);

/* How rows are printed. */
struct report_style {
	bool json;
	bool entries; /* there are no durations */
	bool lines;   /* with each function's place in the source */
	/* JSON: what the rows are to the function that was asked for; NULL: nothing was. */
	const char *relation;
};

/* Prints a head, a line for each function, and what a line doesn't say; nothing without rows. */
void report_print(struct reader *reader, const totals_vec *all, const struct report_style *style);
/* Adds the name, the module and, where they are wanted and known, file and line. */
void report_add_function(struct reader *reader, uint32_t id, const struct report_style *style,
			 struct json *json);
/* Adds calls, and the times that all forms of the report have; totals: NULL for no call. */
void report_add_numbers(const struct reader *reader, const struct totals *totals, bool entries,
			struct json *json);

#endif
