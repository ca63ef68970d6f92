/* SPDX-License-Identifier: GPL-3.0-or-later */
/* saved_marks.h - hits of markers in a saved trace */
#ifndef USPL_TRACE_LOG_SAVED_MARKS_H
#define USPL_TRACE_LOG_SAVED_MARKS_H

#include "trace/log/mark_line.h"
#include "trace/log/saved_io.h"

/* Appends them all. */
void saved_put_marks(struct buf *out, const mark_line_vec *lines);
/* Reads them; refuses what isn't in order of time, and values that no marker has. */
void saved_get_marks(struct saved_cursor *in, mark_line_vec *lines);

#endif
