// SPDX-License-Identifier: GPL-3.0-or-later
// callers.c - the return addresses that records mention, by their low halves

#include "trace/log/callers.h"

static int by_low(const void *a, const void *b)
{
	const struct trace_caller *x = a, *y = b;

	return x->low < y->low ? -1 : x->low > y->low;
}

int callers_collect(const trace_records *records, trace_callers *callers, struct uspl_err *err)
{
	const struct trace_record *record;
	size_t n = 0;

	vec_for_each (records, record) {
		struct trace_caller *caller = vec_push(callers);

		if (!caller)
			return uspl_fail_nomem(err);
		caller->low = record->caller;
	}
	if (callers->n)
		qsort(callers->items, callers->n, sizeof(*callers->items), by_low);
	for (size_t i = 0; i < callers->n; i++)
		if (!n || callers->items[i].low != callers->items[n - 1].low)
			callers->items[n++] = callers->items[i];
	callers->n = n;
	return 0;
}

const struct trace_caller *callers_find(const trace_callers *callers, uint32_t low)
{
	const struct trace_caller key = { .low = low };

	return callers->n ? bsearch(&key, callers->items, callers->n, sizeof(key), by_low) : NULL;
}
