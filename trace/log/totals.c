// SPDX-License-Identifier: GPL-3.0-or-later
// totals.c - calls added up: by function, or by another question

#include "trace/log/totals.h"

#include <stdlib.h>

/* A call, and what it counts for. */
struct counted {
	uint32_t id;
	const struct trace_span *span;
};

/* 0 where only the entry is known. */
static uint64_t duration_of(const struct trace_span *span)
{
	return span->record.end ? span->record.end - span->record.start : 0;
}

static bool is_open(const struct trace_span *span)
{
	return span->record.how == TRACE_OPEN;
}

/* Sorts durations of one id after the other; what is open comes last. */
static int by_id_and_duration(const void *a, const void *b)
{
	const struct counted *x = a, *y = b;
	uint64_t dx = duration_of(x->span), dy = duration_of(y->span);

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (is_open(x->span) != is_open(y->span))
		return is_open(x->span) ? 1 : -1;
	return dx < dy ? -1 : dx > dy;
}

/* Adds up the n calls of one id, which are sorted by duration. */
static struct totals add_up(const struct counted *calls, size_t n)
{
	struct totals totals = { .id = calls[0].id };
	size_t at;

	for (; n && is_open(calls[n - 1].span); n--) {
		uint64_t so_far = duration_of(calls[n - 1].span);

		totals.open++;
		totals.open_max = so_far > totals.open_max ? so_far : totals.open_max;
	}
	totals.calls = n;
	for (size_t i = 0; i < n; i++) {
		const struct trace_span *span = calls[i].span;

		totals.sum += duration_of(span);
		totals.total += span->recurses ? 0 : duration_of(span);
		totals.self += span->self;
		totals.left += span->record.how == TRACE_LEFT;
		totals.cut += span->record.cut;
	}
	if (!n)
		return totals;
	totals.min = duration_of(calls[0].span);
	totals.max = duration_of(calls[n - 1].span);
	/* The least time that all but one in a hundred don't exceed. */
	at = (99 * n + 99) / 100 - 1;
	totals.p99 = duration_of(calls[at].span);
	return totals;
}

int totals_make(const struct timeline *timeline, totals_group group, const void *ctx,
		totals_vec *ret, struct uspl_err *err)
{
	auto_free struct counted *calls = calloc(timeline->calls.n + 1, sizeof(*calls));
	const struct trace_span *span;
	size_t n = 0;

	if (!calls)
		return uspl_fail_nomem(err);
	vec_for_each (&timeline->calls, span) {
		calls[n].span = span;
		n += group(ctx, timeline, span, &calls[n].id);
	}
	qsort(calls, n, sizeof(*calls), by_id_and_duration);
	for (size_t from = 0, to; from < n; from = to) {
		struct totals *totals = vec_push(ret);

		if (!totals)
			return uspl_fail_nomem(err);
		for (to = from; to < n && calls[to].id == calls[from].id; to++)
			;
		*totals = add_up(calls + from, to - from);
	}
	return 0;
}

bool totals_by_function(const void *ctx, const struct timeline *timeline,
			const struct trace_span *span, uint32_t *ret_id)
{
	(void)ctx;
	(void)timeline;
	*ret_id = span->record.id;
	return true;
}

static bool is_chosen(const struct totals_choice *choice, const struct trace_span *span,
		      uint32_t id)
{
	return (!choice->tid || span->record.tid == choice->tid) && choice->has(choice->ctx, id);
}

bool totals_by_itself(const void *choice, const struct timeline *timeline,
		      const struct trace_span *span, uint32_t *ret_id)
{
	(void)timeline;
	*ret_id = span->record.id;
	return is_chosen(choice, span, span->record.id);
}

bool totals_by_caller(const void *choice, const struct timeline *timeline,
		      const struct trace_span *span, uint32_t *ret_id)
{
	if (span->parent == TRACE_NO_CALL || !is_chosen(choice, span, span->record.id))
		return false;
	*ret_id = timeline->calls.items[span->parent].record.id;
	return true;
}

bool totals_by_callee(const void *choice, const struct timeline *timeline,
		      const struct trace_span *span, uint32_t *ret_id)
{
	if (span->parent == TRACE_NO_CALL ||
	    !is_chosen(choice, span, timeline->calls.items[span->parent].record.id))
		return false;
	*ret_id = span->record.id;
	return true;
}

double totals_average(const struct totals *totals)
{
	return totals->calls ? (double)totals->sum / (double)totals->calls : 0;
}
