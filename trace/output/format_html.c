// SPDX-License-Identifier: GPL-3.0-or-later
// format_html.c - what was recorded as a page for a browser: page.js has the form of its data

#include <inttypes.h>

#include "base/json.h"
#include "trace/output/formats.h"
#include "trace/output/mark_lines.h"
#include "trace/output/names.h"
#include "trace/output/page.h"
#include "trace/output/reader.h"
#include "trace/output/trace_log.h"
#include "trace/output/tracer.h"

#define NAME_MAX_LEN 512

/* Of the flags that page.js knows. */
enum { LEFT = 1, OPEN = 2, CUT = 4 };

/* The index in the page's list of names: of functions, and behind them of what the kernel tells. */
struct places {
	uint32_t *by_id; /* of functions */
	uint32_t n_functions;
	VEC(uint64_t) kernel; /* what each is called by: kernel_key() */
};

static void places_release(struct places *places)
{
	free(places->by_id);
	vec_release(&places->kernel);
}

DEFINE_AUTO_RELEASE(places, struct places, places_release)
#define auto_places __attribute__((cleanup(cleanup_places_)))

/* Events of one key have one name. */
static uint64_t kernel_key(const struct kernel_event *event)
{
	const unsigned flags = event->flags & (KERNEL_PREEMPTED | KERNEL_MAJOR | KERNEL_UNDONE);

	return event->kind == KERNEL_SYSCALL ? (uint64_t)(uint32_t)event->nr << 32
					     : (uint64_t)event->kind << 8 | flags;
}

/* The number of its name among those of the kernel; kernel.n: it isn't there yet. */
static uint32_t kernel_place(const struct places *places, const struct kernel_event *event)
{
	uint64_t key = kernel_key(event);
	uint32_t i = 0;

	while (i < places->kernel.n && places->kernel.items[i] != key)
		i++;
	return i;
}

static void add_kernel_names(const struct reader *reader, struct places *places, struct json *json)
{
	const struct trace_span *span;

	vec_for_each (&reader->timeline.calls, span) {
		const struct kernel_event *event = trace_kernel(&reader->log, &span->record);
		char buf[NAME_MAX_LEN];
		uint64_t *key;

		if (!event || kernel_place(places, event) < places->kernel.n)
			continue;
		key = vec_push(&places->kernel);
		if (!key) {
			json->buf.oom = true;
			return;
		}
		*key = kernel_key(event);
		json_open(json, NULL, '[');
		json_string(json, NULL, kernel_event_name(event, buf, sizeof(buf)));
		json_string(json, NULL, "kernel");
		json_string(json, NULL, NULL);
		json_close(json, ']');
	}
}

/* The functions that were called, and what the kernel has told. */
static void add_names(const struct reader *reader, struct places *places, struct json *json)
{
	const struct trace_span *span;
	uint32_t n = 0;

	vec_for_each (&reader->timeline.calls, span)
		if (!(span->record.id & TRACE_KERNEL))
			places->by_id[span->record.id] = 1;
	json_open(json, "names", '[');
	for (uint32_t id = 1; id <= reader->names.by_id.n; id++) {
		char buf[NAME_MAX_LEN];

		if (!places->by_id[id])
			continue;
		places->by_id[id] = n++;
		json_open(json, NULL, '[');
		json_string(json, NULL, names_of(reader->log.names, id, buf, sizeof(buf)));
		json_string(json, NULL, names_module(reader->log.names, id));
		json_string(json, NULL, names_line(reader->log.names, id));
		json_close(json, ']');
	}
	places->n_functions = n;
	add_kernel_names(reader, places, json);
	json_close(json, ']');
	json_number(json, "functions", n);
}

/* The calls from `from` on that are one thread's; `to` is behind the last. */
static void add_thread(const struct reader *reader, const struct places *places, size_t from,
		       size_t to, struct json *json)
{
	const struct trace_log *log = &reader->log;
	const struct trace_span *calls = reader->timeline.calls.items;
	pid_t tid = calls[from].record.tid;
	const char *comma = "";
	int64_t before = 0;

	json_open(json, NULL, '{');
	json_number(json, "tid", tid);
	json_string(json, "name", reader_thread_name(reader, tid));
	json_open(json, "calls", '[');
	for (size_t i = from; i < to; i++) {
		const struct trace_record *record = &calls[i].record;
		const struct kernel_event *event = trace_kernel(log, record);
		uint32_t place = event ? places->n_functions + kernel_place(places, event)
				       : places->by_id[record->id];
		int64_t start = trace_whole_ns(log, record->start - log->start_ticks);
		int64_t end = trace_whole_ns(log, calls[i].end - log->start_ticks);
		unsigned flags;

		if (log->depth && calls[i].depth >= log->depth)
			continue;
		flags = (record->how == TRACE_LEFT ? LEFT : 0) |
			(record->how == TRACE_OPEN ? OPEN : 0) | (record->cut ? CUT : 0);
		/* By hand: there may be millions. */
		buf_addf(&json->buf, "%s%u,%" PRId64 ",%" PRId64 ",%u", comma, place,
			 start - before, end - start, calls[i].depth << 3 | flags);
		before = start;
		comma = ",";
	}
	json_close(json, ']');
	json_close(json, '}');
}

static void add_mark(const struct reader *reader, const struct mark_line *line, struct buf *out)
{
	auto_json struct json json = { 0 };
	auto_buf struct buf text = { 0 };

	buf_addf(&text, "%s %s", line->name, line->message);
	json_open(&json, NULL, '[');
	json_number(&json, NULL, line->tid);
	json_number(&json, NULL,
		    trace_whole_ns(&reader->log, line->time - reader->log.start_ticks));
	json_string(&json, NULL, buf_str(&text));
	json_close(&json, ']');
	buf_addf(out, "%s%s", out->data[out->len - 1] == '[' ? "" : ",", json_text(&json));
	out->oom |= text.oom || json.buf.oom;
}

static int body(struct reader *reader, struct buf *out, struct uspl_err *err)
{
	const struct page_head head = { reader->log.comm,   reader->tracer->name,
					reader->log.pid,    reader->log.overwritten,
					reader->log.unseen, reader->kernel.lost };
	const struct timeline *timeline = &reader->timeline;
	auto_places struct places places = {
		.by_id = calloc(reader->names.by_id.n + 1, sizeof(*places.by_id)),
	};
	auto_json struct json json = { 0 };

	if (!places.by_id)
		return uspl_fail_nomem(err);
	page_open(&json, &head);
	add_names(reader, &places, &json);
	json_open(&json, "marks", '[');
	marks_print(reader, 0, UINT64_MAX, add_mark, &json.buf);
	json_close(&json, ']');
	json_open(&json, "threads", '[');
	for (size_t from = 0, to; from < timeline->calls.n; from = to) {
		to = timeline_thread_end(timeline, from);
		add_thread(reader, &places, from, to, &json);
	}
	json_close(&json, ']');
	page_close(&json, out);
	return 0;
}

static void end(const struct reader *reader, struct buf *out)
{
	format_flush(reader->to, out, true);
	reader_print_losses(reader, stderr);
}

const struct format format_html = { .name = "html",
				    .suffix = ".html",
				    .durations = true,
				    .whole = true,
				    .kernel = true,
				    .body = body,
				    .end = end };
