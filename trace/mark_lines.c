// SPDX-License-Identifier: GPL-3.0-or-later
// mark_lines.c - the records of markers among those of functions, as text

#include "trace/trace.h"

size_t marks_print(const struct reader *reader, size_t from, uint64_t time, mark_printer print,
		   struct buf *out)
{
	const struct mark_reader *marks = &reader->marks;

	for (; from < marks->records.n && marks->records.items[from].time <= time; from++) {
		print(reader, &marks->records.items[from], out);
		format_flush(out, false);
	}
	return from;
}

void mark_add_message(const struct reader *reader, const struct mark_record *record,
		      struct buf *out)
{
	struct message_value values[USPL_PROBE_ARGS_MAX];
	const struct uspl_probe *probe = record->probe;

	if (mark_values(&reader->marks, record, values, NULL))
		out->oom = true;
	else
		message_add(out, probe->format ? mark_text(record->region, probe->format) : NULL,
			    values, probe->n_args);
	mark_values_release(values);
}

static void add_text(const struct reader *reader, const struct mark_record *record, struct buf *out)
{
	auto_buf struct buf message = { 0 };

	mark_add_message(reader, record, &message);
	buf_addf(out, "%s%s%s", mark_text(record->region, record->probe->name),
		 message.len ? ": " : "", buf_str(&message));
}

void mark_line_graph(const struct reader *reader, const struct mark_record *record, struct buf *out)
{
	buf_addf(out, "%14.6f %9d) %17s |  /* ",
		 trace_us(&reader->log, record->time - reader->log.start_ticks) / 1e6, record->tid,
		 "");
	add_text(reader, record, out);
	buf_addstr(out, " */\n");
}

void mark_line_event(const struct reader *reader, const struct mark_record *record, struct buf *out)
{
	buf_addf(out, "%16s-%-8d %18.6f: ", reader->log.comm, record->tid,
		 trace_us(&reader->log, record->time - reader->log.start_ticks) / 1e6);
	add_text(reader, record, out);
	buf_addstr(out, "\n");
}

static void print_head(struct buf *out)
{
	buf_addstr(out, "#           TASK-TID            TIMESTAMP  MARKER\n"
			"#              | |                  |          |\n");
}

static const struct tracer_hook hook = {
	.entries = true,
	.head = print_head,
	.mark = mark_line_event,
};

const struct tracer tracer_none = { .name = "none", .hook = &hook };
