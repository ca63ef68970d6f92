/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tracing.h - starting a tracer that stands in functions of the target that the user chooses */
#ifndef USPL_TRACE_CMD_TRACING_H
#define USPL_TRACE_CMD_TRACING_H

#include "base/cleanup.h"
#include "base/cli.h"
#include "trace/engine/session.h"

struct listening;
struct tracer;

/*
 * What a user has chosen for a tracer of the first sort, or one that adds up calls. Zero-initialise
 * it.
 */
struct tracing_options {
	cli_strings only, not, modules, tids, args, results, triggers;
	double threshold_s;
	int depth, buffer_kb, text_bytes;
	bool keep_mcount, json;
	bool begins; /* not an option: as in struct proc */
	bool silent; /* not an option: nothing is said of the start */
	/* Not an option: what is listened to, while a tracer is started. */
	const struct listening *listening;
};

/*
 * Appends these options to a command's table: those that choose what is traced, and, if the tracer
 * records calls, those that say what is recorded.
 */
int tracing_add_options(struct tracing_options *opts, bool records, cli_option_vec *table,
			struct uspl_err *err) uspl_must_check;
void tracing_options_release(struct tracing_options *opts);
DEFINE_AUTO_RELEASE(tracing_options, struct tracing_options, tracing_options_release)
#define auto_tracing_options __attribute__((cleanup(cleanup_tracing_options_)))
/* What is traced by these options, which must outlive it. */
struct trace_choice tracing_choice(struct tracing_options *opts);
/* True if a library that the process opens later may be traced by these options. */
bool tracing_can_grow(const struct tracing_options *opts);
/* Starts the tracer in a process, and says so. */
int tracing_start(const struct tracer *tracer, struct tracing_options *opts, pid_t pid,
		  struct uspl_err *err) uspl_must_check;

#endif
