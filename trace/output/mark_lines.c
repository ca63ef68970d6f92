// SPDX-License-Identifier: GPL-3.0-or-later
// mark_lines.c - the records of markers among those of functions, as text

#include "trace/output/mark_lines.h"

#include "trace/output/reader.h"
#include "trace/output/trace_log.h"
#include "trace/output/tracer.h"

/* The hit numbered i: a file's own, or what is made in `made` of a record. NULL: out of memory. */
static const struct mark_line *line_at(const struct reader *reader, size_t i,
				       struct mark_line *made)
{
	if (reader_is_file(reader))
		return &reader->mark_lines.items[i];
	return mark_line_make(&reader->marks, &reader->marks.records.items[i], made, NULL) ? NULL
											   : made;
}

size_t marks_count(const struct reader *reader)
{
	return reader_is_file(reader) ? reader->mark_lines.n : reader->marks.records.n;
}

static uint64_t time_at(const struct reader *reader, size_t i)
{
	return reader_is_file(reader) ? reader->mark_lines.items[i].time
				      : reader->marks.records.items[i].time;
}

size_t marks_print(const struct reader *reader, size_t from, uint64_t time, mark_printer print,
		   struct buf *out)
{
	for (; from < marks_count(reader) && time_at(reader, from) <= time; from++) {
		auto_mark_line struct mark_line made = { 0 };
		const struct mark_line *line = line_at(reader, from, &made);

		if (line)
			print(reader, line, out);
		else
			out->oom = true;
	}
	return from;
}

int marks_collect(const struct reader *reader, mark_line_vec *ret, struct uspl_err *err)
{
	const struct mark_record *record;
	int rc;

	vec_for_each (&reader->marks.records, record) {
		struct mark_line *line = vec_push(ret);

		if (!line)
			return uspl_fail_nomem(err);
		rc = mark_line_make(&reader->marks, record, line, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* "subsystem:name: message" */
static void add_text(const struct mark_line *line, struct buf *out)
{
	buf_addf(out, "%s%s%s", line->name, line->message[0] ? ": " : "", line->message);
}

void mark_line_graph(const struct reader *reader, const struct mark_line *line, struct buf *out)
{
	buf_addf(out, "%14.6f %9d) %17s |  /* ",
		 trace_us(&reader->log, line->time - reader->log.start_ticks) / 1e6, line->tid, "");
	add_text(line, out);
	buf_addstr(out, " */\n");
}

void mark_line_event(const struct reader *reader, const struct mark_line *line, struct buf *out)
{
	buf_addf(out, "%16s-%-8d %18.6f: ", reader->log.comm, line->tid,
		 trace_us(&reader->log, line->time - reader->log.start_ticks) / 1e6);
	add_text(line, out);
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
