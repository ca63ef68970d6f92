/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * top_rows.h - what a process's functions did between two readings of a profile
 *
 * What is shown is a difference of sums: what the tracer `profile` had added up at this reading,
 * less what it had at the one before. Nothing is lost between them, be they far apart.
 */
#ifndef USPL_TRACE_TOP_TOP_ROWS_H
#define USPL_TRACE_TOP_TOP_ROWS_H

#include "trace/tally/call_sums.h"
#include "trace/top/top_row.h"

struct top_rows {
	struct tally tally;
	struct trace_names names;
	struct call_sums sums; /* of the last reading, by function */
	int64_t read_ns;       /* when that was; 0: there was none */
	double seconds; /* between it and the one before; since the start, if there was none */
	/*
	 * Functions that did something, between the readings but for `max`, which is since the
	 * start. The times of open calls count, too; p99 is the upper bound of its bucket.
	 */
	top_row_vec rows;
};

/* Zero-initialise it. USPL_E_NOT_APPLIED: nothing is traced. top_rows_close must follow. */
int top_rows_open(struct top_rows *rows, pid_t pid, struct uspl_err *err) uspl_must_check;
void top_rows_close(struct top_rows *rows);
/*
 * Reads, and says what has been done since the last reading. USPL_E_NOT_APPLIED: the session has
 * ended. USPL_E_NO_PROCESS: so has the process.
 */
int top_rows_read(struct top_rows *rows, struct uspl_err *err) uspl_must_check;

#endif
