/* SPDX-License-Identifier: GPL-3.0-or-later */
/* top.h - what runs in a process now: what the table and the screen have in common */
#ifndef USPL_TRACE_TOP_TOP_H
#define USPL_TRACE_TOP_TOP_H

#include "trace/top/top_rows.h"

struct top {
	struct top_rows rows;
	int end_fd;          /* readable when the process has ended */
	int64_t interval_ns; /* between two readings, at least */
	int64_t next_ns;     /* when the next one is due */
	int64_t cpu_ns;      /* what the tool had taken of a processor before the last one */
	enum top_key key;
	const char *filter;
	size_t shown; /* of the rows, those that the filter lets through: they come first */
};

enum top_news { TOP_DUE, TOP_KEYS, TOP_OVER };

/*
 * Waits until a reading is due, or there is something to read from keys_fd (-1: nothing is waited
 * for), or until the process has ended or a signal has asked for the end.
 */
enum top_news top_wait(const struct top *top, int keys_fd, int64_t until_ns);
/*
 * Reads, and sets when the next reading is due: not before a hundred times as long as this one, or
 * all that was done since the one before, has taken of a processor.
 */
int top_read(struct top *top, struct uspl_err *err) uspl_must_check;
/* True once the process has ended. */
bool top_has_ended(const struct top *top);

#endif
