// SPDX-License-Identifier: GPL-3.0-or-later
// timeline_test.c - calls are nested again by their times

#include "tap.h"
#include "trace/log/timeline.h"

static trace_records records;

static void call(pid_t tid, uint64_t start, uint64_t end, uint32_t id)
{
	*(struct trace_record *)vec_push(&records) =
		(struct trace_record){ .tid = tid, .start = start, .end = end, .id = id };
}

/* The events as text: an id with '(' for an entry, ')' for a return, '.' for both in one. */
static const char *events_of(const struct timeline *t)
{
	static char text[256];
	const struct trace_event *event;
	size_t n = 0;

	text[0] = '\0';
	vec_for_each (&t->events, event)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%u%c ",
				      t->calls.items[event->call].record.id, "()."[event->kind]);
	return text;
}

static void expect(const char *want, const char *what)
{
	struct timeline t = { 0 };
	struct uspl_err err = { 0 };

	ok(timeline_make(&records, NULL, &t, &err) == 0, "%s", what);
	ok_str(events_of(&t), want, what);
	timeline_release(&t);
	records.n = 0;
}

static void test_order(void)
{
	expect("", "nothing");
	/* As a ring has them: by their returns. */
	call(1, 20, 30, 3);
	call(1, 40, 50, 4);
	call(1, 10, 60, 2);
	call(1, 0, 70, 1);
	expect("1( 2( 3. 4. 2) 1) ", "one thread");
	call(1, 0, 10, 1);
	call(1, 20, 30, 2);
	expect("1. 2. ", "one after the other");
	call(2, 5, 35, 5);
	call(2, 15, 16, 6);
	call(1, 0, 40, 1);
	call(1, 10, 30, 2);
	expect("1( 5( 2. 6. 5) 1) ", "two threads, by time");
	/* The clock need not tick between two calls. */
	call(1, 10, 10, 3);
	call(1, 10, 10, 2);
	call(1, 10, 20, 1);
	expect("1( 3. 2. 1) ", "calls that took no time");
}

static void test_depth(void)
{
	struct timeline t = { 0 };
	struct uspl_err err = { 0 };

	call(1, 0, 100, 1);
	call(1, 10, 60, 2);
	call(1, 20, 40, 3);
	call(1, 70, 80, 4);
	ok(timeline_make(&records, NULL, &t, &err) == 0 && t.calls.n == 4, "four calls");
	ok(t.calls.items[0].depth == 0 && t.calls.items[1].depth == 1 &&
		   t.calls.items[2].depth == 2 && t.calls.items[3].depth == 1,
	   "how deep they are");
	ok(t.calls.items[0].parent == TRACE_NO_CALL && t.calls.items[2].parent == 1 &&
		   t.calls.items[3].parent == 0,
	   "who made them");
	ok(t.calls.items[0].self == 40 && t.calls.items[1].self == 30 &&
		   t.calls.items[2].self == 20 && t.calls.items[3].self == 10,
	   "how much time was their own");
	timeline_release(&t);
	records.n = 0;
}

/* Entries without returns: each stands for itself. */
static void test_entries(void)
{
	call(1, 10, 0, 1);
	call(1, 20, 0, 2);
	call(1, 30, 0, 3);
	expect("1. 2. 3. ", "entries only");
}

static struct trace_record *last(void)
{
	return &records.items[records.n - 1];
}

/* Whatever the times say, no call ends behind its caller. */
static void test_nesting(void)
{
	struct timeline t = { 0 };
	struct uspl_err err = { 0 };

	/* A coroutine's call, which goes on while its caller has returned. */
	call(1, 0, 50, 1);
	call(1, 10, 90, 2);
	call(1, 20, 30, 3);
	call(1, 60, 70, 4);
	ok(timeline_make(&records, NULL, &t, &err) == 0, "a call that ends behind its caller");
	ok_str(events_of(&t), "1( 2( 3. 2) 1) 4. ", "a call that ends behind its caller: order");
	ok(t.calls.items[1].end == 50 && t.calls.items[1].record.end == 90 &&
		   t.calls.items[0].self == 10 && t.calls.items[1].self == 30,
	   "it ends with its caller, and is as long as it is");
	timeline_release(&t);
	records.n = 0;
	/* Calls that were left are found later: they were left before their caller was. */
	call(1, 0, 40, 1);
	last()->how = TRACE_LEFT;
	call(1, 10, 100, 2);
	last()->how = TRACE_LEFT;
	call(1, 50, 100, 3);
	last()->how = TRACE_OPEN;
	call(1, 60, 80, 4);
	call(1, 70, 100, 5);
	last()->how = TRACE_OPEN;
	ok(timeline_make(&records, NULL, &t, &err) == 0, "calls that don't return");
	ok_str(events_of(&t), "1( 2. 1) 3( 4( 5. 4) 3) ", "calls that don't return: order");
	ok(t.calls.items[1].record.end == 40, "left no later than its caller");
	ok(t.calls.items[2].record.how == TRACE_OPEN, "what is open is open");
	ok(t.calls.items[4].record.how == TRACE_LEFT && t.calls.items[4].record.end == 80,
	   "but not in a call that is over");
	timeline_release(&t);
	records.n = 0;
}

static void test_sums(void)
{
	struct timeline t = { 0 };
	struct uspl_err err = { 0 };

	call(1, 0, 100, 1);
	last()->cut = true;
	call(1, 10, 90, 2);
	call(1, 20, 80, 2);
	call(1, 30, 40, 3);
	call(1, 50, 60, 2);
	call(1, 110, 120, 2);
	ok(timeline_make(&records, NULL, &t, &err) == 0, "recursion");
	ok(!t.calls.items[0].recurses && !t.calls.items[1].recurses && t.calls.items[2].recurses &&
		   !t.calls.items[3].recurses && t.calls.items[4].recurses &&
		   !t.calls.items[5].recurses,
	   "which calls are within one of the same function");
	ok(t.calls.items[0].self == 0 && t.calls.items[1].self == 20,
	   "the own time of a call whose callees may be lost isn't known");
	timeline_release(&t);
	records.n = 0;
}

/* What is seen on a walk; the ends of the calls as text, "id:self:parent ". */
struct walked {
	char text[256];
	size_t n;
	uint32_t next;
	bool fails;
};

static int enter(void *ctx, const struct trace_span *span, uint32_t *ret, struct uspl_err *err)
{
	struct walked *walked = ctx;

	(void)span;
	*ret = walked->next++;
	return walked->fails && walked->next == 3 ? uspl_fail_nomem(err) : 0;
}

static void leave(void *ctx, const struct trace_span *span, uint32_t number)
{
	struct walked *walked = ctx;

	(void)number;
	walked->n +=
		(size_t)snprintf(walked->text + walked->n, sizeof(walked->text) - walked->n,
				 "%u:%d:%d ", span->record.id, (int)span->self, (int)span->parent);
}

/* Goes through the calls without a timeline, which says the same of each. */
static void test_walk(void)
{
	struct walked walked = { 0 }, failed = { .fails = true };
	struct timeline t = { 0 };
	struct uspl_err err = { 0 };
	uint64_t sum = 0;

	call(2, 5, 35, 6);
	call(1, 20, 30, 3);
	call(1, 40, 150, 4); /* a coroutine's: it ends no later than its caller */
	call(1, 10, 60, 2);
	call(1, 0, 100, 1);
	call(1, 200, 250, 5);
	last()->cut = true;
	call(1, 200, 210, 7);
	ok(timeline_make(&records, NULL, &t, &err) == 0, "a timeline");
	for (size_t i = 0; i < t.calls.n; i++)
		sum += t.calls.items[i].self;
	ok(timeline_walk(&records, &(struct timeline_visitor){ enter, leave, &walked }, &err) == 0,
	   "a walk");
	ok_str(walked.text, "3:10:1 4:20:1 2:20:0 1:50:-1 7:10:4 5:0:-1 6:30:-1 ",
	       "calls end before their callers, with their own time");
	ok(sum == 10 + 20 + 20 + 50 + 10 + 30, "as the timeline has it: %d", (int)sum);
	ok(timeline_walk(&records, &(struct timeline_visitor){ enter, leave, &failed }, &err) ==
			   -(int)USPL_E_NOMEM &&
		   failed.next == 3,
	   "a failure ends it");
	timeline_release(&t);
	records.n = 0;
}

/* Ids of functions as they are, and of the kernel's events as 90 and their place. */
static const char *spans_of(const struct timeline *t)
{
	static char text[256];
	const struct trace_span *span;
	size_t n = 0;

	text[0] = '\0';
	vec_for_each (&t->calls, span)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%u:%u:%d-%d%s ",
				      span->record.id & TRACE_KERNEL
					      ? 90 + (span->record.id & ~TRACE_KERNEL)
					      : span->record.id,
				      span->depth, (int)span->record.start, (int)span->end,
				      span->record.how == TRACE_OPEN   ? "?"
				      : span->record.how == TRACE_LEFT ? "!"
								       : "");
	return text;
}

static void test_kernel(void)
{
	struct kernel_event events[] = {
		/* In the order of their ends, as they are read. */
		{ .tid = 1, .start = 40, .end = 55, .kind = KERNEL_OFF },
		{ .tid = 1, .start = 30, .end = 60, .kind = KERNEL_SYSCALL },
		{ .tid = 1, .start = 65, .end = 65, .kind = KERNEL_FAULT },
		/* The clocks differ by a little: it ends with the call that made it. */
		{ .tid = 1, .start = 95, .end = 101, .kind = KERNEL_SYSCALL },
		{ .tid = 2, .start = 15, .end = 90, .kind = KERNEL_OFF, .flags = KERNEL_OPEN },
		{ .tid = 1, .start = 120, .end = 130, .kind = KERNEL_OFF },
	};
	kernel_events kernel = { .items = events, .n = ARRAY_SIZE(events) };
	auto_timeline struct timeline t = { 0 }, without = { 0 };
	struct uspl_err err = { 0 };

	call(1, 20, 70, 2);
	call(1, 80, 100, 2);
	call(1, 10, 110, 1);
	call(2, 10, 90, 3);
	last()->how = TRACE_OPEN;
	ok(timeline_make(&records, &kernel, &t, &err) == 0, "calls and what the kernel tells");
	ok_str(spans_of(&t),
	       "1:0:10-110 2:1:20-70 91:2:30-60 90:3:40-55 92:2:65-65 2:1:80-100 93:2:95-100 "
	       "95:0:120-130 3:0:10-90? 94:1:15-90? ",
	       "each lies in what was going on in its thread");
	ok(t.calls.items[1].recurses == false && t.calls.items[0].self == 100 - 50 - 20 &&
		   t.calls.items[1].self == 50 - 30,
	   "what it took isn't the function's own");
	ok(timeline_make(&records, NULL, &without, &err) == 0 && without.calls.n == 4 &&
		   without.calls.items[1].self == 50,
	   "without it, it is");
	records.n = 0;
}

int main(void)
{
	test_order();
	test_kernel();
	test_walk();
	test_nesting();
	test_sums();
	test_depth();
	test_entries();
	vec_release(&records);
	return tap_done();
}
