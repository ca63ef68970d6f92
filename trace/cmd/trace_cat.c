// SPDX-License-Identifier: GPL-3.0-or-later
// trace_cat.c - uspl-trace cat: what was recorded, once or as it comes

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/cancel.h"
#include "base/log.h"
#include "trace/cmd/subcommands.h"
#include "trace/output/formats.h"
#include "trace/output/reader.h"
#include "trace/tally/tally.h"
#include "trace/tracers/tracers.h"
#include "trace/watch/kernel_watch.h"

#define FOLLOW_NS 100000000

struct options {
	bool follow, per_thread, snapshot, json;
	int depth;
	const char *format, *session, *kernel; /* kernel: kinds, as given */
};

static int read_and_format(struct reader *reader, const struct format *format, uint64_t *said,
			   struct buf *out, struct uspl_err *err)
{
	int rc = reader_read(reader, err);

	if (rc)
		return rc;
	/* What was overwritten since the last look stood before what this one has found. */
	if (format == &format_text && reader->log.overwritten > *said)
		buf_addf(out, "# LOST %" PRIu64 " RECORDS\n", reader->log.overwritten - *said);
	*said = reader->log.overwritten;
	return format->body(reader, out, err);
}

/* Goes on until ^C, or until the process or its tracing has ended. */
static int follow(struct reader *reader, const struct format *format, struct buf *out,
		  struct uspl_err *err)
{
	const struct timespec pause = { 0, FOLLOW_NS };
	uint64_t said = 0;
	int rc = 0;

	while (reader->follows) {
		/*
		 * Once more after ^C, and after the process's end: what is counted then isn't read
		 * any more.
		 */
		reader->follows = !cancel_requested() && !proc_is_over(reader->view.proc);
		rc = read_and_format(reader, format, &said, out, err);
		format_flush(reader->to, out, true);
		if (fflush(stdout) || rc)
			break;
		if (reader->follows)
			nanosleep(&pause, NULL);
	}
	return rc == -USPL_E_NO_PROCESS || rc == -USPL_E_SYSTEM ? 0 : rc;
}

/* What the kernel tells is asked for with each reading, from here on. */
static int ask_kernel(struct reader *reader, const char *kinds, struct kernel_watch *kernel,
		      struct uspl_err *err)
{
	unsigned set;
	int rc = kernel_kinds_parse(kinds, &set, err);

	if (rc)
		return rc;
	rc = kernel_watch_open(kernel, reader->log.pid, set, err);
	if (rc)
		return rc;
	fputs(buf_str(&kernel->notes), stderr);
	reader->kernel_source = (struct kernel_source){ kernel_watch_read, kernel };
	return kernel_watch_begin(kernel, err);
}

/* What can't be done in the form that was asked for, or of what is read. */
static int check(const struct reader *reader, const struct options *opts,
		 const struct format *format, struct uspl_err *err)
{
	int rc = tally_refuse(reader->tracer, err);

	if (rc)
		return rc;
	rc = format_check(format, reader->tracer, err);
	if (rc)
		return rc;
	if (opts->per_thread && (opts->follow || format != &format_text))
		return uspl_fail(err, USPL_E_USAGE,
				 "'--per-thread' is for text, and for what is there already");
	if (opts->follow && format->whole)
		return uspl_fail(err, USPL_E_USAGE,
				 "the format '%s' is made of all that was recorded: '--follow' "
				 "doesn't go with it",
				 format->name);
	if (opts->follow && reader_is_file(reader))
		return uspl_fail(err, USPL_E_USAGE, "a file doesn't grow: '--follow' needs a pid");
	if (opts->snapshot && !reader->config.head.snapped)
		return uspl_fail(err, USPL_E_NOT_APPLIED, "no trigger has taken a snapshot");
	if (opts->kernel && !opts->follow)
		return uspl_fail(err, USPL_E_USAGE,
				 "what the kernel tells isn't kept: '--kernel' needs '--follow'");
	if (opts->kernel && !reader->view.session.regions.n)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "'--kernel' stands beside calls, and no function of pid %d is "
				 "traced",
				 reader->log.pid);
	if (opts->kernel && !format->kernel)
		return uspl_fail(err, USPL_E_USAGE,
				 "the format '%s' doesn't show what the kernel tells",
				 format->name);
	return 0;
}

static int print(struct reader *reader, const struct options *opts, struct uspl_err *err)
{
	auto_kernel_watch struct kernel_watch kernel = { 0 };
	const struct format *format;
	auto_buf struct buf out = { 0 };
	int rc = format_find(opts->json ? "json" : opts->format, &format, err);

	reader->tracer = tracer_of(&reader->view.session);
	reader->to = stdout;
	if (rc)
		return rc;
	rc = check(reader, opts, format, err);
	if (rc)
		return rc;
	rc = opts->kernel ? ask_kernel(reader, opts->kernel, &kernel, err) : 0;
	if (rc)
		return rc;
	if (format->begin)
		format->begin(reader, &out);
	reader->follows = opts->follow;
	reader->unordered = format->unordered;
	reader->shows_kernel = format->kernel;
	if (opts->follow) {
		/* Where that isn't permitted, the end of the process takes what came last. */
		if (reader_hold(reader, NULL))
			log_info("trace", "what comes last goes with the process");
		rc = follow(reader, format, &out, err);
		if (rc)
			return rc;
	} else {
		rc = reader_read(reader, err);
		if (rc)
			return rc;
		rc = format->body(reader, &out, err);
		if (rc)
			return rc;
	}
	if (out.oom)
		return uspl_fail_nomem(err);
	format->end(reader, &out);
	return 0;
}

int trace_cat(int argc, char **argv, struct uspl_err *err)
{
	struct options opts = { .format = "text", .session = "" };
	const struct cli_option table[] = {
		{ 'f', "follow", NULL, CLI_FLAG, &opts.follow,
		  "go on printing what comes, until ^C" },
		{ 0, "kernel", "KINDS", CLI_OPTIONAL, &opts.kernel,
		  "with --follow: what the kernel tells of the threads, too; 'syscalls', 'sched' "
		  "and 'faults', or some of them (default: all)" },
		{ 0, "per-thread", NULL, CLI_FLAG, &opts.per_thread,
		  "as text: one thread after the other, not all merged by time" },
		{ 0, "depth", "N", CLI_INT, &opts.depth, "leave out calls that are nested deeper" },
		{ 0, "format", "NAME", CLI_STRING, &opts.format,
		  "'text' (default), 'json', 'chrome' (for Perfetto), 'folded' (for flame "
		  "graphs), 'svg' (a flame graph), 'html' (a page for a browser), 'speedscope'" },
		{ 0, "json", NULL, CLI_FLAG, &opts.json, "the same as '--format=json'" },
		{ 0, "snapshot", NULL, CLI_FLAG, &opts.snapshot,
		  "what a trigger has kept ('start --trigger=snapshot:...'), and nothing later" },
		{ 0, "session", "NAME", CLI_STRING, &opts.session,
		  "the markers of this session (uspl-trace mark)" },
	};
	const struct cli_command cmd = {
		.name = "uspl-trace cat",
		.synopsis = "[OPTION]... PID|FILE",
		.summary = "Prints what was recorded, while the process goes on, or what was saved",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	const struct reader_wish wish = { .marks = &opts.session, .kernel = &opts.kernel };
	auto_reader struct reader reader = { 0 };
	int rc = reader_open_operand(&cmd, argc, argv, &wish, &reader, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	cancel_catch();
	reader.log.depth = (uint32_t)opts.depth;
	reader.log.per_thread = opts.per_thread;
	reader.only_snapshot = opts.snapshot;
	return print(&reader, &opts, err);
}
