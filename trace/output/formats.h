/* SPDX-License-Identifier: GPL-3.0-or-later */
/* formats.h - the forms in which records are printed */
#ifndef USPL_TRACE_OUTPUT_FORMATS_H
#define USPL_TRACE_OUTPUT_FORMATS_H

#include <stdio.h>

#include "trace/output/tracer.h"

struct reader;

/* A form in which records are printed. */
struct format {
	const char *name;
	const char *suffix; /* of a file's name that means this form; NULL: none does */
	bool durations;     /* says nothing without them: not for records of entries only */
	bool unordered;     /* needs no timeline, but the records */
	bool kernel;        /* shows what the kernel has told beside the calls */
	bool whole; /* is made of all that was recorded, and can't go on with what comes later */
	void (*begin)(const struct reader *reader, struct buf *out);
	/*
	 * What the last reading has brought. May print and empty `out` when it grows
	 * (format_flush).
	 */
	int (*body)(struct reader *reader, struct buf *out, struct uspl_err *err);
	void (*end)(const struct reader *reader, struct buf *out);
};

extern const struct format format_text, format_json, format_chrome, format_folded, format_svg,
	format_html, format_speedscope;

/* The format of that name; USPL_E_USAGE, naming all, if there is none. */
int format_find(const char *name, const struct format **ret, struct uspl_err *err) uspl_must_check;
/*
 * The same among those that a tracer has, up to the first NULL; the first one if name is NULL.
 * USPL_E_UNSUPPORTED, naming them, if there is one that it doesn't have.
 */
int format_choose(const struct tracer *tracer, const struct format *const formats[FORMATS_MAX],
		  const char *name, const struct format **ret,
		  struct uspl_err *err) uspl_must_check;
/*
 * USPL_E_UNSUPPORTED if it needs durations, which a tracer of the first sort doesn't record.
 */
int format_check(const struct format *format, const struct tracer *tracer,
		 struct uspl_err *err) uspl_must_check;
/* The form that a file of that name is to have, by its suffix; NULL if it means none. */
const struct format *format_by_suffix(const char *path);
/*
 * Prints `out` and empties it if it has grown large, or in any case if `all` (format_flush.c).
 * Where `to` is NULL the caller takes all of it at once: nothing is done.
 */
void format_flush(FILE *to, struct buf *out, bool all);

#endif
