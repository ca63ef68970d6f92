// SPDX-License-Identifier: GPL-3.0-or-later
// top_callers.c - who calls a function, by looks at the calls that are open

#include "trace/top/top_callers.h"

#include <stdlib.h>

void top_callers_release(struct top_callers *callers)
{
	vec_release(&callers->items);
}

static int see(void *ctx, const struct open_call *calls, size_t n, struct uspl_err *err)
{
	struct top_callers *callers = ctx;

	for (size_t i = 0; i < n; i++) {
		uint32_t around = i + 1 < n ? calls[i + 1].id : 0;
		struct top_caller *place = NULL, *it;

		if (calls[i].id != callers->id || calls[i].left)
			continue;
		vec_for_each (&callers->items, it)
			if (it->back == calls[i].back && it->around == around)
				place = it;
		if (!place)
			place = vec_push(&callers->items);
		if (!place)
			return uspl_fail_nomem(err);
		place->back = calls[i].back;
		place->around = around;
		place->seen++;
		callers->seen++;
	}
	return 0;
}

int top_callers_look(struct top_callers *callers, const struct top_rows *rows, struct uspl_err *err)
{
	callers->looks++;
	return call_sums_look(&rows->tally, &rows->sums, see, callers, err);
}

static int by_seen(const void *a, const void *b)
{
	const struct top_caller *x = a, *y = b;

	if (x->seen != y->seen)
		return x->seen > y->seen ? -1 : 1;
	return (x->back > y->back) - (x->back < y->back);
}

void top_callers_sort(struct top_callers *callers)
{
	if (callers->items.n)
		qsort(callers->items.items, callers->items.n, sizeof(*callers->items.items),
		      by_seen);
}
