// SPDX-License-Identifier: GPL-3.0-or-later
// format_text.c - records as lines for people, in the tracer's own form

#include "trace/output/formats.h"
#include "trace/output/mark_lines.h"
#include "trace/output/reader.h"
#include "trace/output/trace_log.h"
#include "trace/output/tracer.h"

static void begin(const struct reader *reader, struct buf *out)
{
	const struct tracer *tracer = reader->tracer;

	buf_addf(out, "# tracer: %s, pid %d\n", tracer->name, reader->log.pid);
	tracer->hook->head(out);
}

/* False for an event that lies too deep; a call all of whose callees do becomes a leaf. */
static bool cut(const struct trace_log *log, struct trace_event *event)
{
	uint32_t depth = log->timeline->calls.items[event->call].depth;

	if (!log->depth || depth + 1 < log->depth)
		return true;
	if (depth + 1 > log->depth || event->kind == TRACE_ENTER)
		return false;
	event->kind = TRACE_LEAF;
	return true;
}

static void print_event(const struct reader *reader, const struct trace_event *event,
			struct buf *out)
{
	struct trace_event shown = *event;

	if (cut(&reader->log, &shown))
		reader->tracer->hook->line(&reader->log, &shown, out);
	format_flush(reader->to, out, false);
}

/* An event with its thread, for putting those of a thread together. */
struct turn {
	pid_t tid;
	size_t event;
};

static int by_thread(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->event < y->event ? -1 : x->event > y->event;
}

/* One thread after the other, under a line that names it. */
static int print_by_thread(const struct reader *reader, struct buf *out, struct uspl_err *err)
{
	const struct timeline *timeline = &reader->timeline;
	size_t n = timeline->events.n;
	auto_free struct turn *turns = calloc(n + 1, sizeof(*turns));

	if (!turns)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		turns[i] = (struct turn){
			timeline->calls.items[timeline->events.items[i].call].record.tid, i
		};
	qsort(turns, n, sizeof(*turns), by_thread);
	for (size_t i = 0; i < n; i++) {
		if (!i && !turns[i].tid)
			buf_addstr(out, "# threads that have ended\n");
		else if (!i || turns[i].tid != turns[i - 1].tid)
			buf_addf(out, "# thread %d\n", turns[i].tid);
		print_event(reader, &timeline->events.items[turns[i].event], out);
	}
	return 0;
}

static void print_mark(const struct reader *reader, const struct mark_line *line, struct buf *out)
{
	reader->tracer->hook->mark(reader, line, out);
	format_flush(reader->to, out, false);
}

static int body(struct reader *reader, struct buf *out, struct uspl_err *err)
{
	const struct trace_event *event;
	size_t mark = 0;
	int rc = 0;

	if (reader->log.per_thread)
		rc = print_by_thread(reader, out, err);
	else
		vec_for_each (&reader->timeline.events, event) {
			mark = marks_print(reader, mark, event->time, print_mark, out);
			print_event(reader, event, out);
		}
	marks_print(reader, mark, UINT64_MAX, print_mark, out);
	return rc;
}

static void end(const struct reader *reader, struct buf *out)
{
	reader_add_losses(reader, out);
	format_flush(reader->to, out, true);
}

const struct format format_text = {
	.name = "text", .kernel = true, .begin = begin, .body = body, .end = end
};
