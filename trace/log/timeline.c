// SPDX-License-Identifier: GPL-3.0-or-later
// timeline.c - calls in the order in which they happened, each with its caller

#include "trace/log/timeline.h"

#include <string.h>

/* The calls that are open while one thread's are gone through, the innermost last. */
struct stack {
	VEC(uint32_t) open;
	uint32_t *inside; /* by id: how many of a function's calls are among them */
};

static int by_thread_and_time(const void *a, const void *b)
{
	const struct trace_record *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end > y->end ? -1 : x->end < y->end;
}

static int add_event(struct timeline *t, enum trace_event_kind kind, uint32_t call, uint64_t time,
		     struct uspl_err *err)
{
	struct trace_event *event = vec_push(&t->events);

	if (!event)
		return uspl_fail_nomem(err);
	*event = (struct trace_event){ kind, call, time };
	return 0;
}

/* Ends the open calls that had returned at `time`, or belong to another thread. */
static int leave(struct timeline *t, struct stack *stack, pid_t tid, uint64_t time,
		 struct uspl_err *err)
{
	int rc = 0;

	while (stack->open.n) {
		uint32_t call = stack->open.items[stack->open.n - 1];
		const struct trace_span *span = &t->calls.items[call];

		if (span->record.tid == tid && span->end > time)
			break;
		stack->open.n--;
		if (!(span->record.id & TRACE_KERNEL))
			stack->inside[span->record.id]--;
		rc = add_event(t, TRACE_LEAVE, call, span->end, err);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * A call ends no later than its caller, though a coroutine's may seem to. For a call that was left,
 * its caller tells better when that was.
 */
static void nest(struct trace_span *span, struct trace_span *parent)
{
	struct trace_record *record = &span->record;

	span->end = record->end;
	if (parent && span->end > parent->end)
		span->end = parent->end;
	/* A call that looks open was over with the call that it was made in. */
	if (parent && record->how == TRACE_OPEN && parent->record.how != TRACE_OPEN)
		record->how = TRACE_LEFT;
	if (record->how == TRACE_LEFT)
		record->end = span->end;
	span->self = span->end > record->start ? span->end - record->start : 0;
	if (parent)
		parent->self -= span->self < parent->self ? span->self : parent->self;
	if (record->cut)
		span->self = 0;
}

static int enter(struct timeline *t, struct stack *stack, uint32_t call, struct uspl_err *err)
{
	struct trace_span *span = &t->calls.items[call];
	bool is_kernel = span->record.id & TRACE_KERNEL;
	uint32_t *place;
	int rc = leave(t, stack, span->record.tid, span->record.start, err);

	if (rc)
		return rc;
	span->depth = (uint32_t)stack->open.n;
	span->parent = span->depth ? stack->open.items[span->depth - 1] : TRACE_NO_CALL;
	span->recurses = !is_kernel && stack->inside[span->record.id];
	nest(span, span->depth ? &t->calls.items[span->parent] : NULL);
	/* The next call isn't made by this one. */
	if (call + 1 == t->calls.n || span[1].record.tid != span->record.tid ||
	    span[1].record.start >= span->end)
		return add_event(t, TRACE_LEAF, call, span->record.start, err);
	place = vec_push(&stack->open);
	if (!place)
		return uspl_fail_nomem(err);
	*place = call;
	if (!is_kernel)
		stack->inside[span->record.id]++;
	return add_event(t, TRACE_ENTER, call, span->record.start, err);
}

/*
 * Sorts by time. Each thread's events are in order already and must stay so even where the clock
 * didn't tick in between, which qsort doesn't promise.
 */
static int sort_events(struct timeline *t, struct uspl_err *err)
{
	size_t n = t->events.n;
	struct trace_event *in = t->events.items, *out = calloc(n + 1, sizeof(*out)), *swap;

	if (!out)
		return uspl_fail_nomem(err);
	for (size_t width = 1; width < n; width *= 2) {
		for (size_t from = 0; from < n; from += 2 * width) {
			size_t mid = from + width < n ? from + width : n;
			size_t to = from + 2 * width < n ? from + 2 * width : n;

			/* Merges two sorted runs; equal times keep their order. */
			for (size_t i = from, a = from, b = mid; i < to; i++)
				out[i] = b >= to || (a < mid && in[a].time <= in[b].time) ? in[a++]
											  : in[b++];
		}
		swap = in;
		in = out;
		out = swap;
	}
	if (n && in != t->events.items) {
		memcpy(t->events.items, in, n * sizeof(*in));
		out = in;
	}
	free(out);
	return 0;
}

static int enter_all(struct timeline *t, struct stack *stack, struct uspl_err *err)
{
	for (size_t i = 0; i < t->calls.n; i++) {
		int rc = enter(t, stack, (uint32_t)i, err);

		if (rc)
			return rc;
	}
	return leave(t, stack, 0, UINT64_MAX, err);
}

static int add_kernel(struct timeline *t, const kernel_events *kernel, struct uspl_err *err)
{
	for (size_t i = 0; i < kernel->n; i++) {
		const struct kernel_event *event = &kernel->items[i];
		struct trace_span *span = vec_push(&t->calls);

		if (!span)
			return uspl_fail_nomem(err);
		span->record = (struct trace_record){
			.start = event->start,
			.end = event->end,
			.id = TRACE_KERNEL | (uint32_t)i,
			.tid = event->tid,
			.cpu = event->cpu,
			.how = event->flags & KERNEL_OPEN ? TRACE_OPEN : TRACE_RETURNED,
		};
	}
	return 0;
}

int timeline_make(const trace_records *records, const kernel_events *kernel, struct timeline *ret,
		  struct uspl_err *err)
{
	auto_timeline struct timeline t = { 0 };
	struct stack stack = { 0 };
	uint32_t id_max = 0;
	int rc;

	if (records->n + (kernel ? kernel->n : 0) >= TRACE_NO_CALL ||
	    (kernel && kernel->n >= TRACE_KERNEL))
		return uspl_fail(err, USPL_E_UNSUPPORTED, "a trace of more than 2^32 calls");
	for (size_t i = 0; i < records->n; i++) {
		struct trace_span *span = vec_push(&t.calls);

		if (!span)
			return uspl_fail_nomem(err);
		span->record = records->items[i];
		id_max = span->record.id > id_max ? span->record.id : id_max;
	}
	rc = kernel ? add_kernel(&t, kernel, err) : 0;
	if (rc)
		return rc;
	stack.inside = calloc((size_t)id_max + 1, sizeof(*stack.inside));
	if (!stack.inside)
		return uspl_fail_nomem(err);
	/* A span begins with its record. */
	if (t.calls.n)
		qsort(t.calls.items, t.calls.n, sizeof(*t.calls.items), by_thread_and_time);
	rc = enter_all(&t, &stack, err);
	vec_release(&stack.open);
	free(stack.inside);
	if (rc)
		return rc;
	rc = sort_events(&t, err);
	if (rc)
		return rc;
	*ret = t;
	t = (struct timeline){ 0 };
	return 0;
}

/* A call that is open while its thread's are gone through. */
struct open_span {
	struct trace_span span;
	uint32_t number; /* the visitor's */
};

typedef VEC(struct open_span) open_span_vec;

static void walk_leave(open_span_vec *open, pid_t tid, uint64_t time,
		       const struct timeline_visitor *visitor)
{
	while (open->n) {
		const struct open_span *last = &open->items[open->n - 1];

		if (last->span.record.tid == tid && last->span.end > time)
			break;
		visitor->leave(visitor->ctx, &last->span, last->number);
		open->n--;
	}
}

int timeline_walk(trace_records *records, const struct timeline_visitor *visitor,
		  struct uspl_err *err)
{
	auto_vec open_span_vec open = { 0 };
	const struct trace_record *record;

	if (records->n)
		qsort(records->items, records->n, sizeof(*records->items), by_thread_and_time);
	vec_for_each (records, record) {
		struct open_span *parent, *here;
		int rc;

		walk_leave(&open, record->tid, record->start, visitor);
		here = vec_push(&open);
		if (!here)
			return uspl_fail_nomem(err);
		parent = open.n > 1 ? here - 1 : NULL;
		here->span.record = *record;
		here->span.depth = (uint32_t)open.n - 1;
		here->span.parent = parent ? parent->number : TRACE_NO_CALL;
		nest(&here->span, parent ? &parent->span : NULL);
		rc = visitor->enter(visitor->ctx, &here->span, &here->number, err);
		if (rc)
			return rc;
	}
	walk_leave(&open, 0, UINT64_MAX, visitor);
	return 0;
}

size_t timeline_thread_end(const struct timeline *timeline, size_t from)
{
	const struct trace_span *calls = timeline->calls.items;
	size_t to = from;

	while (to < timeline->calls.n && calls[to].record.tid == calls[from].record.tid)
		to++;
	return to;
}

void timeline_release(struct timeline *timeline)
{
	vec_release(&timeline->calls);
	vec_release(&timeline->events);
}
