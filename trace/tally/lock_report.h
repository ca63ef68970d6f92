/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lock_report.h - what the tracers lock and sigoff have in common: a table of spans with their
 * maxima
 */
#ifndef USPL_TRACE_TALLY_LOCK_REPORT_H
#define USPL_TRACE_TALLY_LOCK_REPORT_H

#include "trace/tally/tally.h"

/* The table of a session, those that were held longest first. */
struct lock_table {
	struct uspl_lock *items;
	size_t n;
};

/* How a tracer shows it: the whole table as text, or one of it as an object of JSON. */
struct lock_form {
	int (*text)(struct tally *tally, const struct lock_table *table, struct buf *out,
		    struct uspl_err *err);
	int (*json)(struct tally *tally, const struct uspl_lock *lock, struct json *json,
		    struct uspl_err *err);
};

/* Reads the table, and appends the text, or a line of JSON for each of it. */
int lock_report(struct tally *tally, const struct lock_form *form, bool json, struct buf *out,
		struct uspl_err *err) uspl_must_check;
/* Appends which thread held it longest, from where to where, and the chain of calls at its end. */
int lock_add_longest(struct tally *tally, const struct uspl_lock *lock, const char *what,
		     struct buf *out, struct uspl_err *err) uspl_must_check;
/* Adds the same to an open object. */
int lock_json_longest(struct tally *tally, const struct uspl_lock *lock, struct json *json,
		      struct uspl_err *err) uspl_must_check;

#endif
