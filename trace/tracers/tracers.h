/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tracers.h - the table of tracers */
#ifndef USPL_TRACE_TRACERS_TRACERS_H
#define USPL_TRACE_TRACERS_TRACERS_H

#include "trace/output/tracer.h"

struct trace_session;

/* The one that a session runs. */
const struct tracer *tracer_of(const struct trace_session *session);

extern const struct tracer tracer_function, tracer_graph;
extern const struct tracer tracer_profile, tracer_count, tracer_coverage;
extern const struct tracer tracer_alloc, tracer_lock, tracer_pool, tracer_sigoff;
extern const struct tracer tracer_branch, tracer_init, tracer_sample, tracer_stack;
extern const struct tracer tracer_sched, tracer_syscall, tracer_wakeup;

/* The one with that number in the table, from 0 on; NULL behind the last. */
const struct tracer *tracer_at(size_t i);
/* The tracer of that name; USPL_E_USAGE, naming all, if there is none. */
int tracer_find(const char *name, const struct tracer **ret, struct uspl_err *err) uspl_must_check;

/* Appends the tracer's options to a command's table; their values go to state. */
int tracer_add_options(const struct tracer *tracer, void *state, cli_option_vec *table,
		       struct uspl_err *err) uspl_must_check;

#endif
