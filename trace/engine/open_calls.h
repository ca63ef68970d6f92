/* SPDX-License-Identifier: GPL-3.0-or-later */
/* open_calls.h - calls that are open when tracing has ended */
#ifndef USPL_TRACE_ENGINE_OPEN_CALLS_H
#define USPL_TRACE_ENGINE_OPEN_CALLS_H

#include "safety/unwinders.h"

struct clear;
struct trace_session;

/*
 * Of the threads that clear_look has found in the text (clear->inside), those that are there by
 * traced calls alone, and whose stacks can be followed: from now on these calls return to their
 * callers. Stops them for it, one by one; not one that stands in an unwinder. *ret_ended counts
 * them.
 */
int open_calls_end(struct clear *clear, const unwinder_code_vec *unwinders,
		   const struct trace_session *session, size_t *ret_ended,
		   struct uspl_err *err) uspl_must_check;

#endif
