// SPDX-License-Identifier: GPL-3.0-or-later
// trace_record.c - uspl-trace record: saves what was recorded with all that is needed to read it
// elsewhere, later

#include <stdio.h>
#include <string.h>

#include "base/cancel.h"
#include "base/worker.h"
#include "trace/cmd/permitted.h"
#include "trace/cmd/save.h"
#include "trace/cmd/stream.h"
#include "trace/cmd/subcommands.h"
#include "trace/cmd/tracing.h"
#include "trace/output/formats.h"
#include "trace/output/reader.h"
#include "trace/tally/tally.h"
#include "trace/tracers/tracers.h"
#include "trace/watch/kernel_watch.h"

static int check_form(const char *form, const char *path, struct uspl_err *err)
{
	if (form ? !strcmp(form, "uspl") : !format_by_suffix(path))
		return save_check_path(form, path, err);
	uspl_fail(err, USPL_E_USAGE, "'--for' saves in the form 'uspl' only");
	uspl_hint(err, "'uspl-trace record' makes the others of the file");
	return -USPL_E_USAGE;
}

/* What is recorded while it goes on, and where it goes. */
struct goal {
	double seconds;
	const char *form, *path;
	const char *asked; /* of the kernel; NULL: nothing */
	unsigned kinds;    /* the same (kernel_event.h) */
};

/* What is wrong with the options, whatever is recorded. */
static int check_goal(struct goal *goal, struct uspl_err *err)
{
	if (goal->asked && goal->seconds <= 0)
		return uspl_fail(err, USPL_E_USAGE,
				 "what the kernel tells isn't kept: '--kernel' needs '--for'");
	if (!goal->path)
		return uspl_fail(err, USPL_E_USAGE, "nowhere to save to: '--output=PATH'");
	return goal->asked ? kernel_kinds_parse(goal->asked, &goal->kinds, err) : 0;
}

static int record_for(struct reader *reader, struct kernel_watch *kernel, const struct goal *goal,
		      struct uspl_err *err)
{
	int rc;

	if (reader_is_file(reader))
		return uspl_fail(err, USPL_E_USAGE, "a file doesn't grow: '--for' needs a pid");
	if (!reader->view.session.regions.n)
		return uspl_fail(err, USPL_E_UNSUPPORTED, "'--for' saves calls, not markers");
	rc = check_form(goal->form, goal->path, err);
	if (rc)
		return rc;
	if (goal->kinds && !kernel->kinds) {
		rc = kernel_watch_open(kernel, reader->log.pid, goal->kinds, err);
		if (rc)
			return rc;
	}
	/* Their hits would fill the memory. */
	mark_reader_release(&reader->marks);
	reader->has_marks = false;
	return stream_record(reader, goal->kinds ? kernel : NULL, goal->seconds, goal->path, err);
}

/* What is there already, or was saved before. */
static int record_now(struct reader *reader, const struct goal *goal, struct uspl_err *err)
{
	int rc;

	save_prepare(reader, goal->form, goal->path);
	rc = reader_read(reader, err);
	if (rc)
		return rc;
	rc = save_as(reader, goal->form, goal->path, err);
	if (rc)
		return rc;
	save_say(reader, goal->path);
	return 0;
}

/* Bounds of a ring, in KB, where the recording itself starts the tracer. */
#define RING_KB 16384
#define RING_KB_LEAST 1024

/* The rings are as large as the process's control group of memory has room for. */
static int start_tracer(void *ctx, pid_t pid, struct uspl_err *err)
{
	struct tracing_options *opts = ctx;
	bool chosen = opts->buffer_kb;
	int rc;

	for (int kb = RING_KB;; kb /= 2) {
		opts->buffer_kb = chosen ? opts->buffer_kb : kb;
		rc = tracing_start(&tracer_graph, opts, pid, err);
		if (rc != -USPL_E_MEMORY_LIMIT || chosen || kb == RING_KB_LEAST)
			return rc;
	}
}

/*
 * Of a process that isn't traced: it is, for so long. What the kernel doesn't permit is found out
 * before.
 */
static int start_and_record(struct tracing_options *opts, pid_t pid, const struct goal *goal,
			    struct uspl_err *err)
{
	auto_reader struct reader reader = { 0 };
	auto_kernel_watch struct kernel_watch kernel = { 0 };
	struct uspl_err end_err = { 0 };
	int end, status, rc = check_form(goal->form, goal->path, err);

	if (rc)
		return rc;
	if (!worker_begin(&status))
		return status;
	cancel_catch();
	if (goal->kinds) {
		rc = kernel_watch_open(&kernel, pid, goal->kinds, err);
		if (rc)
			return rc;
	}
	rc = permitted_run("trace start", start_tracer, opts, pid, err);
	if (rc)
		return rc;
	fflush(stdout);
	rc = reader_open(pid, NULL, &reader, err);
	rc = rc ? rc : record_for(&reader, &kernel, goal, err);
	/* The ^C that has ended it isn't meant to leave the process traced. */
	cancel_forget();
	end = trace_end(pid, rc ? &end_err : err);
	if (rc)
		return rc;
	return end;
}

int trace_record(int argc, char **argv, struct uspl_err *err)
{
	const char *session = "";
	auto_tracing_options struct tracing_options start = { 0 };
	auto_kernel_watch struct kernel_watch kernel = { 0 };
	struct goal goal = { 0 };
	const struct cli_option table[] = {
		{ 'o', "output", "PATH", CLI_STRING, &goal.path,
		  "the file to write, or the folder to make" },
		{ 0, "format", "NAME", CLI_STRING, &goal.form, SAVE_FORMS },
		{ 0, "for", "TIME", CLI_SECONDS, &goal.seconds,
		  "go on for so long, and save all that comes ('10s'; ^C ends it)" },
		{ 0, "kernel", "KINDS", CLI_OPTIONAL, &goal.asked,
		  "with --for: what the kernel tells of the threads, too; 'syscalls', 'sched' and "
		  "'faults', or some of them (default: all)" },
		{ 0, "session", "NAME", CLI_STRING, &session,
		  "the markers of this session, too (uspl-trace mark)" },
		{ 'F', "function", "GLOB", CLI_STRINGS, &start.only,
		  "with --for, of a process that isn't traced: functions of these names only" },
		{ 'N', "notrace", "GLOB", CLI_STRINGS, &start.not, "not these" },
		{ 'm', "module", "GLOB", CLI_STRINGS, &start.modules,
		  "in these modules (default: in the program itself)" },
		{ 0, "buffer", "KB", CLI_INT, &start.buffer_kb,
		  "memory for each thread's records (default: up to 16384)" },
	};
	const struct cli_command cmd = {
		.name = "uspl-trace record",
		.synopsis = "[OPTION]... -o PATH PID|FILE",
		.summary = "Saves what was recorded, to be read elsewhere when the process is gone",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	const bool writes = true;
	pid_t pid = 0;
	const struct reader_wish wish = {
		.marks = &session, .does_more = &writes, .goes_on = &goal.seconds, .ret_pid = &pid
	};
	auto_reader struct reader reader = { 0 };
	int rc = reader_open_operand(&cmd, argc, argv, &wish, &reader, err);
	bool starts = rc == -USPL_E_NOT_APPLIED && goal.seconds > 0;

	if (rc && !starts)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	rc = check_goal(&goal, err);
	if (rc)
		return rc;
	if (starts)
		return start_and_record(&start, pid, &goal, err);
	if (start.only.n || start.not .n || start.modules.n || start.buffer_kb)
		return uspl_fail(err, USPL_E_USAGE,
				 "what is recorded was chosen when tracing was started: these "
				 "options are for '--for' and a process that isn't traced");
	rc = tally_refuse(tracer_of(&reader.view.session), err);
	if (rc)
		return rc;
	if (goal.seconds > 0)
		return record_for(&reader, &kernel, &goal, err);
	return record_now(&reader, &goal, err);
}
