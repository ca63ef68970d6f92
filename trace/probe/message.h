/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * message.h - a marker's format, applied when its record is read
 *
 * As printf has it. The format comes from the target: what isn't known in it is printed as it
 * stands, and an argument that isn't there counts as 0.
 */
#ifndef USPL_TRACE_PROBE_MESSAGE_H
#define USPL_TRACE_PROBE_MESSAGE_H

#include "base/buf.h"
#include "uspl/mark_abi.h"

/* An argument's value, as it was recorded. */
struct message_value {
	enum uspl_probe_arg_kind kind;
	uint64_t word; /* SIGNED: sign-extended */
	double real;   /* FLOAT */
	char *text;    /* TEXT */
};

/* True if the format prints that argument (counted from 0) as a string. */
bool message_wants_text(const char *format, size_t arg);
/*
 * The argument with that name: the word in front of its "%", as in "fd=%d" or "fd %d". -1 if there
 * is none.
 */
int message_arg_named(const char *format, const char *name, size_t len);
/*
 * Appends the message. Without a format: "arg1=5 arg2=0x10". Strings are written so that a terminal
 * can show them.
 */
void message_add(struct buf *out, const char *format, const struct message_value *values, size_t n);

#endif
