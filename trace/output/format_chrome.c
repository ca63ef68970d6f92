// SPDX-License-Identifier: GPL-3.0-or-later
// format_chrome.c - Chrome's Trace Event Format, which Perfetto and chrome://tracing open

#include <math.h>

#include "base/json.h"
#include "trace/output/formats.h"
#include "trace/output/mark_lines.h"
#include "trace/output/names.h"
#include "trace/output/reader.h"
#include "trace/output/trace_log.h"
#include "trace/output/values_shown.h"

#define NAME_MAX_LEN 512

/* What the process, or one of its threads, is called. */
static void add_name(const struct reader *reader, pid_t tid, const char *name, struct buf *out)
{
	auto_json struct json json = { 0 };

	json_open(&json, NULL, '{');
	json_string(&json, "name", tid ? "thread_name" : "process_name");
	json_string(&json, "ph", "M");
	json_number(&json, "pid", reader->log.pid);
	if (tid)
		json_number(&json, "tid", tid);
	json_open(&json, "args", '{');
	json_string(&json, "name", name);
	json_close(&json, '}');
	json_close(&json, '}');
	buf_addf(out, "%s", json_text(&json));
}

static void begin(const struct reader *reader, struct buf *out)
{
	buf_addstr(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
	add_name(reader, 0, reader->log.comm, out);
}

/* What else is known of a call, or of what the kernel has told. */
static void add_args(const struct trace_log *log, const struct trace_record *record,
		     const struct kernel_event *kernel, struct json *json)
{
	if (!kernel && !record->args && !record->result && !record->how && !record->cut)
		return;
	json_open(json, "args", '{');
	if (kernel)
		json_number(json, "cpu", record->cpu);
	if (record->how)
		json_truth(json, trace_how(record), true);
	if (record->cut)
		json_truth(json, "cut", true);
	if (kernel) {
		kernel_event_add_json(kernel, json);
	} else {
		values_add_json(log, record->args, "?", json);
		values_add_json(log, record->result, "result", json);
	}
	json_close(json, '}');
}

/*
 * A call, or what the kernel has told of its thread: a complete event ("X"), or an instant one
 * ("i") where only the entry is known. Times are in us.
 */
static void add_span(const struct reader *reader, const struct trace_span *span, struct buf *out)
{
	const struct trace_log *log = &reader->log;
	const struct trace_record *record = &span->record;
	const struct kernel_event *kernel = trace_kernel(log, record);
	double start = trace_us(log, record->start - log->start_ticks);
	double end = trace_us(log, span->end - log->start_ticks);
	auto_json struct json json = { 0 };
	char buf[NAME_MAX_LEN];

	json_open(&json, NULL, '{');
	json_string(&json, "name",
		    kernel ? kernel_event_name(kernel, buf, sizeof(buf))
			   : names_of(log->names, record->id, buf, sizeof(buf)));
	json_string(&json, "cat", kernel ? "kernel" : names_module(log->names, record->id));
	json_string(&json, "ph", record->end ? "X" : "i");
	json_number(&json, "pid", log->pid);
	json_number(&json, "tid", record->tid);
	json_decimal(&json, "ts", start, 3);
	/*
	 * What is nested must be so in the printed digits, too: both ends are rounded, and the
	 * duration is what lies between.
	 */
	if (record->end)
		json_decimal(&json, "dur", (nearbyint(end * 1000) - nearbyint(start * 1000)) / 1000,
			     3);
	else
		json_string(&json, "s", "t");
	add_args(log, record, kernel, &json);
	json_close(&json, '}');
	buf_addf(out, ",\n%s", json_text(&json));
}

/* A marker is an instant event of its thread. */
static void add_mark(const struct reader *reader, const struct mark_line *line, struct buf *out)
{
	auto_json struct json json = { 0 };

	json_open(&json, NULL, '{');
	json_string(&json, "name", line->name);
	json_string(&json, "cat", "marker");
	json_string(&json, "ph", "i");
	json_number(&json, "pid", reader->log.pid);
	json_number(&json, "tid", line->tid);
	json_decimal(&json, "ts", trace_us(&reader->log, line->time - reader->log.start_ticks), 3);
	json_string(&json, "s", "t");
	json_open(&json, "args", '{');
	json_string(&json, "message", line->message);
	json_close(&json, '}');
	json_close(&json, '}');
	buf_addf(out, ",\n%s", json_text(&json));
	format_flush(reader->to, out, false);
}

static int body(struct reader *reader, struct buf *out, struct uspl_err *err)
{
	const struct trace_span *span;

	(void)err;
	vec_for_each (&reader->timeline.calls, span) {
		if (reader->log.depth && span->depth >= reader->log.depth)
			continue;
		add_span(reader, span, out);
		format_flush(reader->to, out, false);
	}
	marks_print(reader, 0, UINT64_MAX, add_mark, out);
	return 0;
}

static void end(const struct reader *reader, struct buf *out)
{
	const struct thread_name *name;

	vec_for_each (&reader->threads, name) {
		buf_addstr(out, ",\n");
		add_name(reader, name->tid, name->name, out);
	}
	buf_addstr(out, "\n]}\n");
	format_flush(reader->to, out, true);
	reader_print_losses(reader, stderr);
}

const struct format format_chrome = {
	.name = "chrome", .kernel = true, .begin = begin, .body = body, .end = end
};
