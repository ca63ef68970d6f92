/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mark_line.h - a hit of a marker with all that is printed of it
 *
 * What a record refers to is in the process; a line stands for itself, and can be saved.
 */
#ifndef USPL_TRACE_LOG_MARK_LINE_H
#define USPL_TRACE_LOG_MARK_LINE_H

#include <sys/types.h>

#include "trace/log/mark_record.h"

struct mark_line {
	uint64_t time; /* ticks */
	pid_t tid;     /* 0: not known */
	char *name, *module, *message;
	size_t n_values;
	struct message_value values[USPL_PROBE_ARGS_MAX];
};

typedef VEC(struct mark_line) mark_line_vec;

/*
 * Makes a line of a record of the last reading; its texts are for people (base/text.h), those among
 * the values as they were. mark_line_release must follow in any case.
 */
int mark_line_make(const struct mark_reader *reader, const struct mark_record *record,
		   struct mark_line *ret, struct uspl_err *err) uspl_must_check;
void mark_line_release(struct mark_line *line);
DEFINE_AUTO_RELEASE(mark_line, struct mark_line, mark_line_release)
#define auto_mark_line __attribute__((cleanup(cleanup_mark_line_)))
void mark_lines_release(mark_line_vec *lines);
DEFINE_AUTO_RELEASE(mark_lines, mark_line_vec, mark_lines_release)
#define auto_mark_lines __attribute__((cleanup(cleanup_mark_lines_)))

#endif
