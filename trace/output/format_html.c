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

/* The functions that were called; ret_places: by id, the index in the page's list. */
static void add_names(const struct reader *reader, uint32_t *ret_places, struct json *json)
{
	const struct trace_span *span;
	uint32_t n = 0;

	vec_for_each (&reader->timeline.calls, span)
		ret_places[span->record.id] = 1;
	json_open(json, "names", '[');
	for (uint32_t id = 1; id <= reader->names.by_id.n; id++) {
		char buf[NAME_MAX_LEN];

		if (!ret_places[id])
			continue;
		ret_places[id] = n++;
		json_open(json, NULL, '[');
		json_string(json, NULL, names_of(reader->log.names, id, buf, sizeof(buf)));
		json_string(json, NULL, names_module(reader->log.names, id));
		json_string(json, NULL, names_line(reader->log.names, id));
		json_close(json, ']');
	}
	json_close(json, ']');
}

static unsigned flags_of(const struct trace_record *record)
{
	return (record->how == TRACE_LEFT ? LEFT : 0) | (record->how == TRACE_OPEN ? OPEN : 0) |
	       (record->cut ? CUT : 0);
}

/* The calls from `from` on that are one thread's; `to` is behind the last. */
static void add_thread(const struct reader *reader, const uint32_t *places, size_t from, size_t to,
		       struct json *json)
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
		int64_t start = trace_whole_ns(log, record->start - log->start_ticks);
		int64_t end = trace_whole_ns(log, calls[i].end - log->start_ticks);

		if (log->depth && calls[i].depth >= log->depth)
			continue;
		/* By hand: there may be millions. */
		buf_addf(&json->buf, "%s%u,%" PRId64 ",%" PRId64 ",%u", comma, places[record->id],
			 start - before, end - start, calls[i].depth << 3 | flags_of(record));
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
	const struct page_head head = { reader->log.comm, reader->tracer->name, reader->log.pid,
					reader->log.overwritten, reader->log.unseen };
	const struct timeline *timeline = &reader->timeline;
	auto_free uint32_t *places = calloc(reader->names.by_id.n + 1, sizeof(*places));
	auto_json struct json json = { 0 };

	if (!places)
		return uspl_fail_nomem(err);
	page_open(&json, &head);
	add_names(reader, places, &json);
	json_open(&json, "marks", '[');
	marks_print(reader, 0, UINT64_MAX, add_mark, &json.buf);
	json_close(&json, ']');
	json_open(&json, "threads", '[');
	for (size_t from = 0, to; from < timeline->calls.n; from = to) {
		to = timeline_thread_end(timeline, from);
		add_thread(reader, places, from, to, &json);
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
				    .body = body,
				    .end = end };
