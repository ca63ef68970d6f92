/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perf_order.h - the notes of all processors in one order
 *
 * Each processor's ring is in order by itself. What was noted before the last reading began has
 * been read by now, whichever ring it was in. That is delivered; what came since waits for the next
 * time.
 */
#ifndef USPL_PERF_PERF_ORDER_H
#define USPL_PERF_PERF_ORDER_H

#include "base/buf.h"
#include "perf/perf.h"

struct perf_held {
	uint64_t time;
	size_t order; /* of reading: notes of one time stay in it */
	size_t at; /* where in bytes the copy begins: struct perf_note, its raw bytes, its stack */
};

/* Zero-initialise it. */
struct perf_order {
	struct buf bytes;
	VEC(struct perf_held) held;
	uint64_t read_ns; /* when the last reading began */
};

/*
 * Reads what is new, and visits what is due, by time. With `all` everything is due: for the last
 * time. Stops at a failure of visit, and returns it.
 */
int perf_read_ordered(struct perf *perf, struct perf_order *order, bool all,
		      int (*visit)(void *ctx, const struct perf_note *note), void *ctx,
		      struct uspl_err *err);
void perf_order_release(struct perf_order *order);

#endif
