/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * top_rows.h - what a process's functions did between two readings of a profile
 *
 * What is shown is a difference of sums: what the tracer `profile` had added up at this reading,
 * less what it had at the one before. Nothing is lost between them, be they far apart.
 */
#ifndef USPL_TRACE_TOP_TOP_ROWS_H
#define USPL_TRACE_TOP_TOP_ROWS_H

#include "trace/output/names.h"
#include "trace/tally/call_sums.h"

enum top_key { TOP_SELF, TOP_CALLS, TOP_TOTAL, TOP_AVG, TOP_P99, TOP_MAX, TOP_NAME };

/* A function. Times in ns; of what is over between the readings, but for `max`: since the start. */
struct top_row {
	uint32_t id;
	bool chosen; /* by the filter */
	uint64_t calls, open;
	double self, total; /* of open calls the time between the readings, too */
	double avg, p99; /* p99: the upper bound of the bucket that it is in; 0: no call is over */
	double max;
};

struct top_rows {
	struct tally tally;
	struct trace_names names;
	struct call_sums sums; /* of the last reading, by function */
	int64_t read_ns;       /* when that was; 0: there was none */
	double seconds; /* between it and the one before; since the start, if there was none */
	VEC(struct top_row) rows; /* functions that did something */
};

/* Zero-initialise it. USPL_E_NOT_APPLIED: nothing is traced. top_rows_close must follow. */
int top_rows_open(struct top_rows *rows, pid_t pid, struct uspl_err *err) uspl_must_check;
void top_rows_close(struct top_rows *rows);
/*
 * Reads, and says what has been done since the last reading. USPL_E_NOT_APPLIED: the session has
 * ended. USPL_E_NO_PROCESS: so has the process.
 */
int top_rows_read(struct top_rows *rows, struct uspl_err *err) uspl_must_check;
/*
 * Puts the rows in order: those of names that have the filter in them, or match it if it is a glob,
 * come first, the largest at the beginning. Returns how many these are; "" is in all names.
 */
size_t top_rows_sort(struct top_rows *rows, enum top_key key, const char *filter);
/* The key that is called so. USPL_E_USAGE, with those that there are. */
int top_key_find(const char *name, enum top_key *ret, struct uspl_err *err) uspl_must_check;
const char *top_key_name(enum top_key key);

#endif
