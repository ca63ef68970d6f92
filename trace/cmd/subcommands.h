/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * subcommands.h - the subcommands of uspl-trace
 *
 * To add a subcommand: a function, a line here, a line in the table of cmd_trace.c. A tracer: see
 * tracer.h. A form of output: a file format_NAME.c with its struct format, a line in the table of
 * formats.c.
 */
#ifndef USPL_TRACE_CMD_SUBCOMMANDS_H
#define USPL_TRACE_CMD_SUBCOMMANDS_H

#include <sys/types.h>

#include "base/types.h"

struct marks_request;
struct uspl_err;

/* Subcommands. Like commands: an exit status, or a negative code with err filled in. */
int trace_start(int argc, char **argv, struct uspl_err *err);
int trace_exec(int argc, char **argv, struct uspl_err *err);
int trace_stop(int argc, char **argv, struct uspl_err *err);
int trace_cat(int argc, char **argv, struct uspl_err *err);
int trace_report(int argc, char **argv, struct uspl_err *err);
int trace_record(int argc, char **argv, struct uspl_err *err);
int trace_list(int argc, char **argv, struct uspl_err *err);
int trace_status(int argc, char **argv, struct uspl_err *err);
int trace_mark(int argc, char **argv, struct uspl_err *err);
int trace_probe(int argc, char **argv, struct uspl_err *err);
int trace_top(int argc, char **argv, struct uspl_err *err);
int trace_tui(int argc, char **argv, struct uspl_err *err);
int trace_tracers(int argc, char **argv, struct uspl_err *err);
/* Not for users: trace_keep.h, trace_follow.c. */
int trace_keep(int argc, char **argv, struct uspl_err *err);
int trace_follow(int argc, char **argv, struct uspl_err *err);

/* Ends tracing of a process, if it lives and is traced; what was recorded is gone. */
int trace_end(pid_t pid, struct uspl_err *err) uspl_must_check;

/* How many bytes of records a ring has, by the option --buffer, 0 if it isn't given. */
uint64_t tracing_ring_bytes(int kb);

/* Fills in what --buffer and --string say, 0 if they aren't given; looks at the session's name. */
int trace_mark_sizes(struct marks_request *request, int buffer_kb, int text_bytes,
		     struct uspl_err *err) uspl_must_check;

#endif
