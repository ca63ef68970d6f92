// SPDX-License-Identifier: GPL-3.0-or-later
// format_folded.c - call chains with the nanoseconds spent in them, as flame graphs are made of
//
// A line is `thread;outer;inner NANOSECONDS`, once for each chain: the time spent in the innermost
// function itself.

#include <stdlib.h>
#include <string.h>

#include "trace/output/formats.h"
#include "trace/output/names.h"
#include "trace/output/reader.h"
#include "trace/output/trace_log.h"

#define NAME_MAX_LEN 512

/* A name in a chain must not have the signs that part names and numbers. */
static void add_name(struct buf *chain, const char *name)
{
	for (; *name; name++)
		buf_addf(chain, "%c", *name == ';' ? ':' : *name == ' ' ? '_' : *name);
}

static void add_chain(const struct reader *reader, const struct trace_span *span, struct buf *chain)
{
	char buf[NAME_MAX_LEN];

	if (span->parent == TRACE_NO_CALL)
		buf_addf(chain, "%s-%d", reader->log.comm, span->record.tid);
	else
		add_chain(reader, &reader->timeline.calls.items[span->parent], chain);
	buf_addstr(chain, ";");
	add_name(chain, names_of(reader->log.names, span->record.id, buf, sizeof(buf)));
}

struct line {
	char *chain;
	uint64_t ticks;
};

static int by_chain(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->chain, ((const struct line *)b)->chain);
}

typedef VEC(struct line) line_vec;

static int collect(const struct reader *reader, line_vec *lines, struct uspl_err *err)
{
	const struct trace_span *span;

	vec_for_each (&reader->timeline.calls, span) {
		struct line *line = vec_push(lines);
		struct buf chain = { 0 };

		if (!line)
			return uspl_fail_nomem(err);
		add_chain(reader, span, &chain);
		line->ticks = span->self;
		line->chain = buf_take(&chain);
		if (!line->chain)
			return uspl_fail_nomem(err);
	}
	return 0;
}

static void print(const struct reader *reader, const line_vec *lines, struct buf *out)
{
	for (size_t i = 0, next; i < lines->n; i = next) {
		uint64_t ticks = 0;

		for (next = i;
		     next < lines->n && !strcmp(lines->items[next].chain, lines->items[i].chain);
		     next++)
			ticks += lines->items[next].ticks;
		buf_addf(out, "%s %.0f\n", lines->items[i].chain,
			 trace_us(&reader->log, ticks) * 1000);
		format_flush(out, false);
	}
}

static void release(line_vec *lines)
{
	for (size_t i = 0; i < lines->n; i++)
		free(lines->items[i].chain);
	vec_release(lines);
}

DEFINE_AUTO_RELEASE(lines, line_vec, release)
#define auto_lines __attribute__((cleanup(cleanup_lines_)))

static int body(const struct reader *reader, struct buf *out, struct uspl_err *err)
{
	auto_lines line_vec lines = { 0 };
	int rc = collect(reader, &lines, err);

	if (rc || !lines.n)
		return rc;
	qsort(lines.items, lines.n, sizeof(*lines.items), by_chain);
	print(reader, &lines, out);
	return 0;
}

static void end(const struct reader *reader, struct buf *out)
{
	format_flush(out, true);
	reader_print_losses(reader, stderr);
}

const struct format format_folded = {
	.name = "folded", .durations = true, .body = body, .end = end
};
