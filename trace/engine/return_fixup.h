/* SPDX-License-Identifier: GPL-3.0-or-later */
/* return_fixup.h - calls that are open when tracing has ended */
#ifndef USPL_TRACE_ENGINE_RETURN_FIXUP_H
#define USPL_TRACE_ENGINE_RETURN_FIXUP_H

#include "safety/unwinders.h"

struct drain;
struct trace_session;

/*
 * Takes those of the threads that drain_look has found in the text (drain->inside) which are there
 * by traced calls alone, and whose stacks can be followed: from now on these calls return to their
 * callers. Stops these threads for it, one by one; not a thread that stands in an unwinder.
 * *ret_ended counts them.
 */
int return_fixup_run(struct drain *drain, const unwinder_code_vec *unwinders,
		     const struct trace_session *session, size_t *ret_ended,
		     struct uspl_err *err) uspl_must_check;

#endif
