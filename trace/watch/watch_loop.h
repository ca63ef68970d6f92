/* SPDX-License-Identifier: GPL-3.0-or-later */
/* watch_loop.h - the loop of the tracers that run while they are attached */
#ifndef USPL_TRACE_WATCH_WATCH_LOOP_H
#define USPL_TRACE_WATCH_WATCH_LOOP_H

#include "base/cli.h"

struct buf;
struct perf;
struct tracer;
struct watch;

/* What a user has chosen for a tracer of the second sort. */
struct watch_options {
	double seconds; /* how long; 0: until ^C or the end of the process */
	const char *format;
	cli_strings triggers;
	/* Not an option: called when the tracer has begun; NULL for none. */
	void (*begun)(void *ctx);
	void *ctx;
};

/* Appends these options to a command's table. */
int watch_add_options(struct watch_options *opts, cli_option_vec *table,
		      struct uspl_err *err) uspl_must_check;
/* For a tracer's `open`: its notes are news. */
int watch_add_perf(struct watch *watch, const struct perf *perf,
		   struct uspl_err *err) uspl_must_check;
/* For a tracer's `end`: what isn't in the output goes among text for people, else to messages. */
void watch_print_losses(struct watch *watch, const struct buf *losses);
/*
 * Observes a process, and prints. Returns 0 when the time is over, ^C came, or the process has
 * ended. state: of the tracer's size, with its options in place.
 */
int watch_run(const struct tracer *tracer, void *state, const struct watch_options *opts, pid_t pid,
	      struct uspl_err *err) uspl_must_check;

#endif
