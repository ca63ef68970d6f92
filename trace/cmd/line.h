/* SPDX-License-Identifier: GPL-3.0-or-later */
/* line.h - the command line of start and exec: which tracer, and the options that it has */
#ifndef USPL_TRACE_CMD_LINE_H
#define USPL_TRACE_CMD_LINE_H

#include "trace/cmd/tracing.h"
#include "trace/tally/tally.h"
#include "trace/watch/watch_loop.h"

struct line {
	const char *tracer_name; /* as given, NULL if it isn't */
	const struct tracer *tracer;
	void *state; /* the tracer's, with its options */
	struct tracing_options hook;
	struct watch_options watch;
	struct tally_options tally;
	int first; /* index of the first operand */
	/* Set before by a command that prints what was recorded: then all tracers have --format. */
	bool prints;
	const char *format; /* of those */
};

/*
 * Parses the line of a command whose own options are in `about`; the tracer's come to them. Zero-
 * initialise line but for what is set before; line_release must follow in any case. Returns like
 * cli_parse.
 */
int line_parse(const struct cli_command *about, int argc, char **argv, struct line *line,
	       struct uspl_err *err) uspl_must_check;
void line_release(struct line *line);
/* The tracer stands in functions that the user chooses: tracing_start starts it. */
bool line_is_hooked(const struct line *line);
DEFINE_AUTO_RELEASE(line, struct line, line_release)
#define auto_line __attribute__((cleanup(cleanup_line_)))

#endif
