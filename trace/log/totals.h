/* SPDX-License-Identifier: GPL-3.0-or-later */
/* totals.h - calls added up: by function, or by another question */
#ifndef USPL_TRACE_LOG_TOTALS_H
#define USPL_TRACE_LOG_TOTALS_H

#include "trace/log/timeline.h"

/* What is known of the calls of a function. Times are in ticks. */
struct totals {
	uint32_t id;
	/*
	 * Of calls that are over. total counts a call within another one of the same function only
	 * once, sum each.
	 */
	uint64_t calls, total, sum, self, min, max, p99;
	uint64_t left; /* calls that haven't returned: by longjmp or an exception */
	uint64_t cut;  /* calls that began before the oldest record: their own time isn't known */
	uint64_t open, open_max; /* calls that aren't over, and the longest of them so far */
};

typedef VEC(struct totals) totals_vec;

/* Which id a call counts for; false: for none. */
typedef bool (*totals_group)(const void *ctx, const struct timeline *timeline,
			     const struct trace_span *span, uint32_t *ret_id);

/* Appends an item for each id that a call counts for, in the order of ids. USPL_E_NOMEM. */
int totals_make(const struct timeline *timeline, totals_group group, const void *ctx,
		totals_vec *ret, struct uspl_err *err) uspl_must_check;
/* For totals_make: each call counts for its function. */
bool totals_by_function(const void *ctx, const struct timeline *timeline,
			const struct trace_span *span, uint32_t *ret_id);
/* Some functions, which are asked for by id, and a thread (0: all). */
struct totals_choice {
	bool (*has)(const void *ctx, uint32_t id);
	const void *ctx;
	pid_t tid;
};

/*
 * For totals_make, with a choice: a call of a chosen function counts for itself; for the function
 * that made it; and a call that a chosen function makes for the one that is called.
 */
bool totals_by_itself(const void *choice, const struct timeline *timeline,
		      const struct trace_span *span, uint32_t *ret_id);
bool totals_by_caller(const void *choice, const struct timeline *timeline,
		      const struct trace_span *span, uint32_t *ret_id);
bool totals_by_callee(const void *choice, const struct timeline *timeline,
		      const struct trace_span *span, uint32_t *ret_id);
/* Ticks of a call in the mean; 0 without calls. */
double totals_average(const struct totals *totals);

#endif
