/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * open_calls.h - calls that haven't returned, as the shadow stacks have them
 *
 * A ring has calls that have ended. What threads are in, and what was left (longjmp, exceptions)
 * with nobody coming to that place of the stack since, is in the shadow only.
 */
#ifndef USPL_TRACE_LOG_OPEN_CALLS_H
#define USPL_TRACE_LOG_OPEN_CALLS_H

#include "record/trace_records.h"
#include "trace/log/ring.h"

/*
 * Appends those of a session, with the time of the reading as their end: TRACE_OPEN, or TRACE_LEFT.
 * A call that the records have already isn't appended. Of a running thread's, one that was left and
 * can't be told from one that is open counts as open.
 */
int open_calls_read(struct proc *proc, const struct trace_session *session, uint64_t now,
		    trace_records *records, struct uspl_err *err) uspl_must_check;

#endif
