// SPDX-License-Identifier: GPL-3.0-or-later
// perf_order.c - the notes of all processors in one order

#include "perf/perf_order.h"

#include <string.h>

#include "base/clock.h"

/* Behind a note its raw bytes and its stack follow; the next one begins aligned. */
static int hold(void *ctx, const struct perf_note *note)
{
	struct perf_order *order = ctx;
	struct perf_held *held = vec_push(&order->held);

	if (!held)
		return -USPL_E_NOMEM;
	*held = (struct perf_held){ note->time, order->held.n, order->bytes.len };
	buf_add(&order->bytes, note, sizeof(*note));
	buf_add(&order->bytes, note->raw, note->raw_len);
	buf_add(&order->bytes, note->stack, note->stack_len);
	buf_align(&order->bytes, 16);
	return order->bytes.oom ? -USPL_E_NOMEM : 0;
}

static int by_time(const void *a, const void *b)
{
	const struct perf_held *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void take_back(const struct perf_order *order, const struct perf_held *held,
		      struct perf_note *ret)
{
	const uint8_t *at = (const uint8_t *)order->bytes.data + held->at;

	memcpy(ret, at, sizeof(*ret));
	ret->raw = at + sizeof(*ret);
	ret->stack = ret->raw + ret->raw_len;
}

/* Keeps the notes from the n-th on, and nothing else. */
static int keep(struct perf_order *order, size_t n)
{
	struct perf_order kept = { .read_ns = order->read_ns };
	int rc = 0;

	for (; !rc && n < order->held.n; n++) {
		struct perf_note note;

		take_back(order, &order->held.items[n], &note);
		rc = hold(&kept, &note);
	}
	perf_order_release(order);
	*order = kept;
	return rc;
}

int perf_read_ordered(struct perf *perf, struct perf_order *order, bool all,
		      int (*visit)(void *ctx, const struct perf_note *note), void *ctx,
		      struct uspl_err *err)
{
	uint64_t due = all ? UINT64_MAX : order->read_ns;
	size_t n = 0;
	int rc;

	order->read_ns = (uint64_t)clock_now_ns();
	rc = perf_read(perf, hold, order);
	if (rc)
		return uspl_fail_nomem(err);
	if (all)
		perf_count_lost(perf);
	if (order->held.n)
		qsort(order->held.items, order->held.n, sizeof(*order->held.items), by_time);
	while (n < order->held.n && order->held.items[n].time < due) {
		struct perf_note note;

		take_back(order, &order->held.items[n++], &note);
		rc = visit(ctx, &note);
		if (rc)
			return rc;
	}
	return keep(order, n) ? uspl_fail_nomem(err) : 0;
}

void perf_order_release(struct perf_order *order)
{
	buf_release(&order->bytes);
	vec_release(&order->held);
}
