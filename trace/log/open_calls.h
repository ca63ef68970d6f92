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
/* What of a call is found in memory that its process has; it may have written anything there. */
struct kept_call {
	taddr at; /* of the return address on the stack */
	uint64_t start;
	uint32_t id;
	pid_t tid;     /* 0: not known yet */
	bool has_word; /* the return address is there still */
	bool recorded; /* it has ended, and there is a record of that */
};

typedef VEC(struct kept_call) kept_calls;

#define OPEN_CALLS_MAX (1u << 20)

/*
 * Marks those that have ended between the reading of the rings and that of the calls, and sorts
 * them by thread, from the outermost call on.
 */
void open_calls_strike(kept_calls *calls, const trace_records *records);
/* Appends the record of one that isn't over at `now`, or was left. */
int open_call_add(const struct kept_call *call, pid_t tid, uint64_t now, bool open,
		  trace_records *records, struct uspl_err *err) uspl_must_check;
/* The id of the function whose thunk has that name (USPL_TRACE_NAME); 0: it is none. */
uint32_t open_calls_id(const struct trace_session *session, uint64_t name);

#endif
