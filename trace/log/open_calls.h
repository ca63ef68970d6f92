/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * open_calls.h - calls that haven't returned, as the shadow stacks have them
 *
 * A ring has calls that have ended. Calls that threads are in, and calls that were left (longjmp,
 * exceptions) and whose place on the stack no call has used since, are in the shadow only.
 */
#ifndef USPL_TRACE_LOG_OPEN_CALLS_H
#define USPL_TRACE_LOG_OPEN_CALLS_H

#include "record/trace_records.h"
#include "trace/log/ring.h"

/*
 * Appends those of a session, with the time of the reading as their end: TRACE_OPEN, or TRACE_LEFT.
 * A call that the records have already isn't appended. A running thread's call that was left and
 * can't be told from an open one counts as open.
 */
int open_calls_read(struct proc *proc, const struct trace_session *session, uint64_t now,
		    trace_records *records, struct uspl_err *err) uspl_must_check;
/* The id of the function whose thunk has that name (USPL_TRACE_NAME); 0: it is none. */
uint32_t open_calls_id(const struct trace_session *session, uint64_t name);

#endif
