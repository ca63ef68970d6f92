/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mark_lines.h - the records of markers among those of functions, as text */
#ifndef USPL_TRACE_OUTPUT_MARK_LINES_H
#define USPL_TRACE_OUTPUT_MARK_LINES_H

#include "trace/log/mark_line.h"

struct reader;
struct tracer;

/* Appends one hit of a marker in some form. */
typedef void (*mark_printer)(const struct reader *reader, const struct mark_line *line,
			     struct buf *out);
/* How many hits of markers there are to print. */
size_t marks_count(const struct reader *reader);
/* All of them as they are saved, to be released. */
int marks_collect(const struct reader *reader, mark_line_vec *ret,
		  struct uspl_err *err) uspl_must_check;
/*
 * Appends the records of markers from the one numbered `from` on that are not younger than `time`.
 * Returns the number of the next.
 */
size_t marks_print(const struct reader *reader, size_t from, uint64_t time, mark_printer print,
		   struct buf *out);
/* The line of a marker: for a graph, and for a list of events. */
void mark_line_graph(const struct reader *reader, const struct mark_line *line, struct buf *out);
void mark_line_event(const struct reader *reader, const struct mark_line *line, struct buf *out);

/* Where no functions are traced, and markers are on. */
extern const struct tracer tracer_none;

#endif
