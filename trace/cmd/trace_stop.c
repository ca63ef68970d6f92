// SPDX-License-Identifier: GPL-3.0-or-later
// trace_stop.c - uspl-trace stop: tracing ends

#include "base/cancel.h"
#include "trace/cmd/pids.h"
#include "trace/cmd/subcommands.h"
#include "trace/cmd/switched.h"
#include "trace/engine/session.h"
#include "trace/output/view.h"
#include "trace/tally/tally.h"
#include "trace/tracers/tracers.h"

struct options {
	bool force, json, report;
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

static int refuse_report(const struct tracer *tracer, struct uspl_err *err)
{
	uspl_fail(err, USPL_E_UNSUPPORTED, "'--report' is for tracers that add up, not for '%s'",
		  tracer->name);
	uspl_hint(err, "'uspl-trace record' keeps what was recorded, before the stop");
	return -USPL_E_UNSUPPORTED;
}

static int stop_one(void *ctx, pid_t pid, struct uspl_err *err)
{
	const struct options *opts = ctx;
	struct trace_switch result = { 0 };
	struct view view;
	struct last_report last = { &view, { .json = opts->json } };
	struct session_end end = { .force = opts->force, .ctx = &last };
	int rc = view_open(pid, true, &view, err);

	if (rc)
		return rc;
	if (opts->report && !session_is_copy(view.proc, &view.session))
		end.last = print_last;
	rc = end.last && !tracer_of(&view.session)->tally
		     ? refuse_report(tracer_of(&view.session), err)
		     : session_stop(view.proc, &view.modules, &view.session, &end, &result, err);
	if (rc)
		uspl_context(err, "cannot stop tracing pid %d", pid);
	else
		switched_print(pid, NULL, &result, opts->json);
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
	rc = cli_pids(argv + first, argc - first, &pids, err);
	if (rc)
		return rc;
	cancel_catch();
	return pids_for_each("trace stop", &pids, stop_one, &opts);
}
