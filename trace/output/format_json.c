// SPDX-License-Identifier: GPL-3.0-or-later
// format_json.c - a JSON object for each call, one to a line, in the order of their entries

#include "base/json.h"
#include "trace/output/formats.h"
#include "trace/output/mark_lines.h"
#include "trace/output/names.h"
#include "trace/output/reader.h"
#include "trace/output/trace_log.h"
#include "trace/output/values_shown.h"

#define NAME_MAX_LEN 512

/* What a call has, and the kernel's events haven't. */
static void add_function(const struct trace_log *log, const struct trace_record *record,
			 struct json *json)
{
	char buf[NAME_MAX_LEN];

	json_string(json, "name", names_of(log->names, record->id, buf, sizeof(buf)));
	json_string(json, "module", names_module(log->names, record->id));
	if (!record->end)
		json_string(json, "caller",
			    names_of_caller(log->names, record->caller, buf, sizeof(buf)));
	if (record->args) {
		json_open(json, "args", '{');
		values_add_json(log, record->args, "?", json);
		json_close(json, '}');
	}
	values_add_json(log, record->result, "result", json);
}

/* A call; what the kernel has told stands among the calls, by its beginning. */
static void add_span(const struct reader *reader, const struct trace_span *span, struct buf *out)
{
	static const char *const kinds[KERNEL_KINDS] = { "syscall", "off", "fault" };
	const struct trace_log *log = &reader->log;
	const struct trace_record *record = &span->record;
	const struct kernel_event *kernel = trace_kernel(log, record);
	auto_json struct json json = { 0 };
	char buf[NAME_MAX_LEN];

	json_open(&json, NULL, '{');
	json_number(&json, "tid", record->tid);
	json_ns(&json, "start_ns", trace_ns(log, record->start - log->start_ticks));
	if (record->end) {
		json_ns(&json, "duration_ns", trace_ns(log, record->end - record->start));
		json_number(&json, "depth", span->depth);
	}
	if (record->how)
		json_truth(&json, trace_how(record), true);
	if (record->cut)
		json_truth(&json, "cut", true);
	if (record->cpu >= 0)
		json_number(&json, "cpu", record->cpu);
	if (kernel) {
		json_string(&json, "kind", kinds[kernel->kind]);
		json_string(&json, "name",
			    kernel->kind == KERNEL_SYSCALL
				    ? kernel_syscall_name(kernel->nr, buf, sizeof(buf))
				    : kernel_event_name(kernel, buf, sizeof(buf)));
		kernel_event_add_json(kernel, &json);
	} else {
		add_function(log, record, &json);
	}
	json_close(&json, '}');
	buf_addf(out, "%s\n", json_text(&json));
}

static void add_mark(const struct reader *reader, const struct mark_line *line, struct buf *out)
{
	auto_json struct json json = { 0 };

	json_open(&json, NULL, '{');
	json_number(&json, "tid", line->tid);
	json_ns(&json, "start_ns", trace_ns(&reader->log, line->time - reader->log.start_ticks));
	json_string(&json, "kind", "marker");
	json_string(&json, "name", line->name);
	json_string(&json, "module", line->module);
	json_string(&json, "message", line->message);
	json_open(&json, "args", '[');
	for (size_t i = 0; i < line->n_values; i++) {
		const struct message_value *value = &line->values[i];

		if (value->kind == USPL_PROBE_TEXT)
			json_string(&json, NULL, value->text);
		else if (value->kind == USPL_PROBE_FLOAT)
			json_decimal(&json, NULL, value->real, 6);
		else if (value->kind == USPL_PROBE_SIGNED || value->word <= UINT32_MAX)
			json_number(&json, NULL, (int64_t)value->word);
		else
			json_address(&json, NULL, value->word);
	}
	json_close(&json, ']');
	json_close(&json, '}');
	buf_addf(out, "%s\n", json_text(&json));
	format_flush(reader->to, out, false);
}

static int body(struct reader *reader, struct buf *out, struct uspl_err *err)
{
	const struct trace_event *event;
	size_t mark = 0;

	(void)err;
	vec_for_each (&reader->timeline.events, event) {
		const struct trace_span *span = &reader->timeline.calls.items[event->call];

		mark = marks_print(reader, mark, event->time, add_mark, out);
		if (event->kind != TRACE_LEAVE &&
		    (!reader->log.depth || span->depth < reader->log.depth))
			add_span(reader, span, out);
		format_flush(reader->to, out, false);
	}
	marks_print(reader, mark, UINT64_MAX, add_mark, out);
	return 0;
}

/* What is lost is said where messages go, too. */
static void end(const struct reader *reader, struct buf *out)
{
	reader_add_json_end(reader, out);
	format_flush(reader->to, out, true);
	reader_print_losses(reader, stderr);
}

const struct format format_json = { .name = "json", .kernel = true, .body = body, .end = end };
