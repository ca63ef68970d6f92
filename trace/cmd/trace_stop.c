// SPDX-License-Identifier: GPL-3.0-or-later
// trace_stop.c - uspl-trace stop: tracing ends

#include <unistd.h>

#include "base/cancel.h"
#include "trace/cmd/permitted.h"
#include "trace/cmd/save.h"
#include "trace/cmd/subcommands.h"
#include "trace/cmd/switched.h"
#include "trace/engine/clocks.h"
#include "trace/engine/session.h"
#include "trace/log/last_trace.h"
#include "trace/log/open_calls.h"
#include "trace/output/reader.h"
#include "trace/output/view.h"
#include "trace/tally/tally.h"
#include "trace/tracers/tracers.h"

struct options {
	bool force, json, report;
	const char *path, *form;
};

/* The records of a tracer that stop is to save. */
struct keeping {
	pid_t pid;
	const struct options *opts;
	trace_records open; /* calls that were open before */
	bool done;
};

struct last_report {
	const struct view *view;
	struct tally_report_options opts;
};

/* What the tracer has added up is printed when no more can come. */
static int print_last(void *ctx, struct uspl_err *err)
{
	const struct last_report *last = ctx;

	return tally_report_view(tracer_of(&last->view->session), last->view, &last->opts, err);
}

/* When no more can come. Then open calls look as if they had been left. */
static int save_last(void *ctx, struct uspl_err *err)
{
	struct keeping *keeping = ctx;
	auto_reader struct reader reader = { .open = &keeping->open };
	int rc = reader_open(keeping->pid, NULL, &reader, err);

	if (rc)
		return rc;
	rc = reader_read(&reader, err);
	if (rc)
		return rc;
	rc = save_as(&reader, keeping->opts->form, keeping->opts->path, err);
	if (rc) {
		uspl_context(err, "nothing is traced any more, and the records stay");
		uspl_hint(err, "'uspl-trace stop --output=PATH %d' saves them", keeping->pid);
		return rc;
	}
	keeping->done = true;
	if (!keeping->opts->json)
		save_say(&reader, keeping->opts->path);
	return 0;
}

static int refuse_to_save(const struct tracer *tracer, struct uspl_err *err)
{
	uspl_fail(err, USPL_E_UNSUPPORTED,
		  "'--output' is for tracers that record calls, not for '%s'", tracer->name);
	uspl_hint(err, "'--report' prints the last sums");
	return -USPL_E_UNSUPPORTED;
}

/* Stops a tracer that records calls, and keeps the records if that is wanted. */
static int stop_records(struct view *view, const struct options *opts, struct trace_switch *result,
			const char **ret_saved, struct uspl_err *err)
{
	struct keeping keeping = { .pid = view->proc->pid, .opts = opts };
	struct session_end end = { .force = opts->force, .ctx = &keeping };
	struct trace_clocks now;
	int rc = 0;

	clocks_read(&now);
	if (opts->path && !session_is_copy(view->proc, &view->session)) {
		end.last = save_last;
		rc = open_calls_read(view->proc, &view->session, now.ticks, &keeping.open, err);
	}
	rc = rc ? rc : session_stop(view->proc, &view->modules, &view->session, &end, result, err);
	/* The records are there as long as a thread is inside. */
	if (!rc && end.last && !keeping.done && result->inside)
		rc = save_last(&keeping, err);
	*ret_saved = keeping.done ? opts->path : NULL;
	vec_release(&keeping.open);
	return rc;
}

static int refuse_report(const struct tracer *tracer, struct uspl_err *err)
{
	uspl_fail(err, USPL_E_UNSUPPORTED, "'--report' is for tracers that add up, not for '%s'",
		  tracer->name);
	uspl_hint(err, "'uspl-trace record' keeps what was recorded, before the stop");
	return -USPL_E_UNSUPPORTED;
}

/* Of a process that is over there is nothing to stop but its trace to remove. rc: why not. */
static int remove_last(const struct options *opts, pid_t pid, int rc, struct uspl_err *err)
{
	auto_reader struct reader reader = { 0 };
	auto_free char *path = NULL;

	if (!last_trace_may_be(rc) || last_trace_find(pid, &path, NULL))
		return rc;
	if (opts->path) {
		rc = reader_open_file(path, &reader, err);
		if (rc)
			return rc;
		rc = reader_read(&reader, err);
		if (rc)
			return rc;
		rc = save_as(&reader, opts->form, opts->path, err);
		if (rc)
			return rc;
		if (!opts->json)
			save_say(&reader, opts->path);
	}
	if (unlink(path) < 0)
		return uspl_fail_errno(err, "cannot remove '%s'", path);
	if (!opts->json && !cli_quiet())
		printf("pid %d is over: removed what was recorded of it\n", pid);
	return 0;
}

static int stop_one(void *ctx, pid_t pid, struct uspl_err *err)
{
	const struct options *opts = ctx;
	struct trace_switch result = { 0 };
	struct view view;
	struct last_report last = { &view, { .json = opts->json } };
	struct session_end end = { .force = opts->force, .ctx = &last };
	const struct tracer *tracer;
	const char *saved = NULL;
	int rc = view_open(pid, true, &view, err);

	if (rc)
		return remove_last(opts, pid, rc, err);
	tracer = tracer_of(&view.session);
	if (opts->report && !session_is_copy(view.proc, &view.session))
		end.last = print_last;
	if (end.last && !tracer->tally)
		rc = refuse_report(tracer, err);
	else if (opts->path && tracer->tally)
		rc = refuse_to_save(tracer, err);
	else if (tracer->tally)
		rc = session_stop(view.proc, &view.modules, &view.session, &end, &result, err);
	else
		rc = stop_records(&view, opts, &result, &saved, err);
	if (rc)
		uspl_context(err, "cannot stop tracing pid %d", pid);
	else
		switched_print(pid, NULL, &result, saved, opts->json);
	if (!rc && !result.inside)
		last_trace_forget(view.proc);
	if (!rc && !opts->json && !cli_quiet() && !saved && !tracer->tally && !result.inside &&
	    result.sites)
		printf("what was recorded is gone ('--output=FILE' keeps it)\n");
	view_release(&view);
	return rc;
}

int trace_end(pid_t pid, struct uspl_err *err)
{
	const struct session_end end = { 0 };
	struct trace_switch result = { 0 };
	struct view view;
	int rc = view_open(pid, true, &view, err);

	if (rc)
		return last_trace_may_be(rc) ? 0 : rc;
	rc = session_stop(view.proc, &view.modules, &view.session, &end, &result, err);
	if (!rc && !result.inside)
		last_trace_forget(view.proc);
	view_release(&view);
	return rc;
}

int trace_stop(int argc, char **argv, struct uspl_err *err)
{
	struct options opts = { 0 };
	const struct cli_option table[] = {
		{ 0, "force", NULL, CLI_FLAG, &opts.force,
		  "don't wait for a stack that no thread is on" },
		{ 0, "report", NULL, CLI_FLAG, &opts.report,
		  "of tracers that add up: print the last sums" },
		{ 'o', "output", "PATH", CLI_STRING, &opts.path,
		  "of tracers that record calls: save the records there" },
		{ 0, "format", "NAME", CLI_STRING, &opts.form, SAVE_FORMS },
		VIEW_WAIT_OPTION,
		{ 0, "json", NULL, CLI_FLAG, &opts.json, "print the result as JSON" },
	};
	const struct cli_command cmd = {
		.name = "uspl-trace stop",
		.synopsis = "[OPTION]... PID...",
		.summary = "Stops tracing; calls that are open return as they would have",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	auto_vec pid_vec pids = { 0 };
	int first, rc = cli_parse(&cmd, argc, argv, &first, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	if (first == argc)
		return uspl_fail(err, USPL_E_USAGE, "no pid given");
	if (opts.path && argc - first > 1)
		return uspl_fail(err, USPL_E_USAGE, "'--output' is for one process at a time");
	if (opts.form && !opts.path)
		return uspl_fail(err, USPL_E_USAGE, "nowhere to save to: '--output=PATH'");
	rc = save_check_path(opts.form, opts.path, err);
	if (rc)
		return rc;
	rc = cli_pids(argv + first, argc - first, &pids, err);
	if (rc)
		return rc;
	cancel_catch();
	return permitted_for_each("trace stop", &pids, stop_one, &opts);
}
