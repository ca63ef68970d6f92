// SPDX-License-Identifier: GPL-3.0-or-later
// trace_exec.c - uspl-trace exec: a program is traced from its first instruction
//
// A watching tracer attaches where the kernel has just put the program in place of us, at the
// dynamic linker's first instruction; then the program is let go, and isn't held any more. Other
// tracers begin when functions are there, and are asked at the end (child_follow.c). If this tool
// dies before the program has begun, so does the program. Where a tracer can't work, the program
// runs without it: the user has asked for the program in any case.

#include <stdio.h>

#include "base/cancel.h"
#include "trace/cmd/tracing.h"
#include "trace/cmd/line.h"
#include "trace/cmd/subcommands.h"
#include "trace/output/formats.h"
#include "trace/output/look.h"
#include "trace/output/tracer.h"
#include "trace/tally/tally.h"
#include "trace/tracers/child.h"
#include "trace/watch/watch_loop.h"

/* What the tracer has recorded; each sort has a subcommand for it. */
static int print_records(void *ctx, pid_t pid, struct uspl_err *err)
{
	const struct line *line = ctx;
	char name[] = "exec", number[16], *argv[] = { name, number, NULL };
	int rc;

	snprintf(number, sizeof(number), "%d", pid);
	look_go_on();
	rc = (line->tracer->tally ? trace_report : trace_cat)(2, argv, err);
	if (rc != -USPL_E_NOT_APPLIED)
		return rc;
	child_say_gone(pid);
	return 0;
}

/* A tracer that stands in the program's functions: it begins when they are there. */
static int run_hooked(struct line *line, struct child *child, struct uspl_err *err)
{
	int rc = child_ready(child, NULL, err);

	if (rc)
		return rc;
	line->hook.begins = line->tally.begins = true;
	rc = line_is_hooked(line)
		     ? tracing_start(line->tracer, &line->hook, child->pid, err)
		     : tally_start(line->tracer, line->state, &line->tally, child->pid, err);
	if (rc)
		return rc;
	return child_follow(child, print_records, line, err);
}

/* The tracer has begun. */
static void let_go(void *ctx)
{
	child_free(ctx);
}

static int run_watched(struct line *line, struct child *child, struct uspl_err *err)
{
	int rc;

	line->watch.begun = let_go;
	line->watch.ctx = child;
	rc = watch_run(line->tracer, line->state, &line->watch, child->pid, err);
	if (rc)
		return rc;
	return child_wait(child);
}

static int run_launched(struct line *line, struct child *child, struct uspl_err *err)
{
	return line->tracer->launch->run(line->state, child, err);
}

/* The program doesn't run if the command line is wrong, or if code could not be put back. */
static bool runs_all_the_same(const struct child *child, int rc)
{
	return child->pid > 0 && rc != -USPL_E_USAGE && rc != -USPL_E_STRANDED &&
	       !cancel_requested();
}

/* What the tracer had to say is a note, and the program's status is ours. */
static int run_untraced(struct child *child, struct uspl_err *err)
{
	uspl_context(err, child->is_free ? "the program goes on without being traced"
					 : "the program runs without being traced");
	uspl_err_note(stderr, err);
	if (!child->is_free)
		child_free(child);
	return child_wait(child);
}

static int run_traced(struct line *line, struct child *child, struct uspl_err *err)
{
	if (line->tracer->watch)
		return run_watched(line, child, err);
	if (line->tracer->launch)
		return run_launched(line, child, err);
	return run_hooked(line, child, err);
}

/* What is wrong with the options is said before the program runs. */
static int check_options(const struct line *line, struct uspl_err *err)
{
	const struct tracer *tracer = line->tracer;
	const struct format *format;

	if (line->watch.triggers.n)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "a tracer that observes has triggers only for a process that runs "
				 "already");
	if (tracer->watch)
		return format_choose(tracer, tracer->watch->formats, line->watch.format, &format,
				     err);
	return tracer->launch ? tracer->launch->check(line->state, err) : 0;
}

static int start_and_run(struct line *line, struct child *child, const char *output, char **command,
			 struct uspl_err *err)
{
	int rc = child_start(child, command, err);

	if (rc)
		return rc;
	if (output && !freopen(output, "we", stdout))
		return uspl_fail_errno(err, "cannot write '%s'", output);
	rc = run_traced(line, child, err);
	if (rc < 0 && runs_all_the_same(child, rc))
		return run_untraced(child, err);
	return rc;
}

static int run(struct line *line, const char *output, char **command, struct uspl_err *err)
{
	struct child child = { 0 };
	int rc = check_options(line, err);

	if (rc)
		return rc;
	cancel_catch();
	rc = start_and_run(line, &child, output, command, err);
	if (rc < 0)
		child_discard(&child);
	return rc;
}

int trace_exec(int argc, char **argv, struct uspl_err *err)
{
	const char *output = NULL;
	const struct cli_option own[] = {
		{ 'o', "output", "FILE", CLI_STRING, &output,
		  "write there (default: standard output, as the program may)" },
	};
	const struct cli_command about = {
		.name = "uspl-trace exec",
		.synopsis = "[--tracer=NAME] [OPTION]... -- COMMAND [ARG]...",
		.summary = "Runs a program that is traced from its first instruction",
		.options = own,
		.n_options = ARRAY_SIZE(own),
	};
	auto_line struct line line = { 0 };
	int rc = line_parse(&about, argc, argv, &line, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	if (line.first == argc) {
		rc = uspl_fail(err, USPL_E_USAGE, "no command given");
		uspl_hint(err, "try 'uspl-trace exec --help'");
		return rc;
	}
	return run(&line, output, argv + line.first, err);
}
