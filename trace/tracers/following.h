/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * following.h - libraries that a traced process opens, noticed and traced
 *
 * A library is added when the dynamic linker has put it in place; its constructors may run
 * meanwhile. Nothing in the process tells of it: a breakpoint, or a jump, at the place that
 * debuggers use would meet theirs, and a thread that waited there for a tool would hold the dynamic
 * linker's lock. So its lists are looked at, again and again.
 *
 *     following_begin     the session that there is
 *     following_has_news  a look, from outside: no thread notices it
 *     following_take      traces what has come, which takes the process's lock
 *     following_pause_ms  how long until the next look
 */
#ifndef USPL_TRACE_TRACERS_FOLLOWING_H
#define USPL_TRACE_TRACERS_FOLLOWING_H

#include "proc/linkmap.h"
#include "trace/engine/session_grow.h"

/* What is followed. Zero-initialise it, but for what the caller says. */
struct following {
	/* The caller's: as at the start of the session. */
	struct trace_choice choice;
	bool keep_mcount;
	session_grow_loaded *loaded; /* a keeper has to know of what was loaded */
	/* Ours. */
	struct proc *proc;             /* read only */
	taddr debug;                   /* where the dynamic linker's lists begin */
	struct uspl_trace_region head; /* of the session's first part */
	struct linkmap_watch watch;
	session_passed_vec passed;
	bool again;       /* something has to be done that can't be done yet */
	int64_t taken_ns; /* by what was done last */
};

/* USPL_E_NOT_APPLIED: it isn't traced. following_release must follow in any case. */
int following_begin(struct following *following, pid_t pid, struct uspl_err *err) uspl_must_check;
void following_release(struct following *following);
DEFINE_AUTO_RELEASE(following, struct following, following_release)
#define auto_following __attribute__((cleanup(cleanup_following_)))
/* False when the session is gone, or another one's, or its functions are off. */
bool following_goes_on(const struct following *following);
/* True if libraries have come that are wanted, and none is on its way. */
bool following_has_news(struct following *following);
/* Traces what has come. USPL_E_NOMEM; what else may be wrong is told to the log. */
int following_take(struct following *following, struct uspl_err *err) uspl_must_check;
/*
 * How long the next look can wait: not long while a library is on its way or another tool at work;
 * nine times as long as the last work took.
 */
int following_pause_ms(const struct following *following);

#endif
