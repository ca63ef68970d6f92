/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * values.h - what calls were made with and returned, as listeners have recorded it
 *
 * A value becomes text when it is read, since what it means (names of enumerations) is known then.
 * Values of one call lie behind each other: for each its sort, its name with a NUL, its text with a
 * NUL; behind the last one a NUL. A call's record has the offset of the first one.
 */
#ifndef USPL_TRACE_LOG_VALUES_H
#define USPL_TRACE_LOG_VALUES_H

#include "base/buf.h"
#include "trace/engine/listen_plan.h"
#include "trace/log/ring.h"

enum value_sort {
	VALUE_NUMBER = 'd',
	VALUE_REAL = 'f',
	VALUE_TEXT = 's',
	VALUE_WORD = 'w', /* an address, a name of an enumeration: neither a number nor text */
};

struct value {
	enum value_sort sort;
	const char *name, *text;
};

/*
 * Gives the calls their values, of all that the rings had. What belongs to calls that haven't
 * returned yet is kept for the next time. texts is emptied before.
 */
int values_attach(struct trace_values *values, const struct listen_config *config,
		  trace_records *records, struct uspl_err *err) uspl_must_check;
void values_release(struct trace_values *values);

/* Takes the value at *at, and moves *at behind it; false if there is none. */
bool value_next(const char **at, struct value *ret);
/* True if values that begin at this offset of texts can be gone through, and are UTF-8. */
bool values_are_sound(const struct buf *texts, uint32_t offset);

#endif
