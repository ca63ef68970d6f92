/* SPDX-License-Identifier: GPL-3.0-or-later */
/* listening.h - what a tracer's options want to be listened to, as a plan for the session */
#ifndef USPL_TRACE_CMD_LISTENING_H
#define USPL_TRACE_CMD_LISTENING_H

#include "trace/cmd/arg_specs.h"
#include "trace/tally/trigger.h"

struct tracing_options;

/* Zero-initialise it, but for what is the caller's. */
struct listening {
	bool entries; /* the caller's: the tracer sees entries only */
	arg_spec_vec args;
	trigger_vec triggers;
	unsigned text_max;
	struct listen_plan plan;
};

/* Reads the options. listening_release must follow in any case. */
int listening_open(struct listening *listening, const struct tracing_options *opts,
		   struct uspl_err *err) uspl_must_check;
void listening_release(struct listening *listening);
DEFINE_AUTO_RELEASE(listening, struct listening, listening_release)
#define auto_listening __attribute__((cleanup(cleanup_listening_)))
/* The plan for a session; NULL if nothing is to be listened to. */
struct listen_plan *listening_plan(struct listening *listening);
/* True if a function of these names is to be listened to, whatever else is traced. */
bool listening_wants(const struct listening *listening, const char *const *names, size_t n);

#endif
