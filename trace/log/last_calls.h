/* SPDX-License-Identifier: GPL-3.0-or-later */
/* last_calls.h - calls that a process which is over had not returned from */
#ifndef USPL_TRACE_LOG_LAST_CALLS_H
#define USPL_TRACE_LOG_LAST_CALLS_H

#include "record/trace_records.h"
#include "trace/log/ring.h"

/*
 * As open_calls_read (open_calls.h), of a process that is over and whose rings are held
 * (proc/remains.h). What its stacks held isn't known, so a call that was left by a longjmp or an
 * exception may look open.
 */
int last_calls_read(const struct proc *proc, const struct trace_session *session, uint64_t now,
		    trace_records *records, struct uspl_err *err) uspl_must_check;

#endif
