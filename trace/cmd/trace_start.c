// SPDX-License-Identifier: GPL-3.0-or-later
// trace_start.c - uspl-trace start: a tracer begins

#include "base/cancel.h"
#include "trace/cmd/tracing.h"
#include "trace/cmd/line.h"
#include "trace/cmd/permitted.h"
#include "trace/cmd/subcommands.h"
#include "trace/output/tracer.h"
#include "trace/output/view.h"
#include "trace/tally/tally.h"
#include "trace/watch/watch_loop.h"

static int start_one(void *ctx, pid_t pid, struct uspl_err *err)
{
	struct line *line = ctx;

	if (line_is_hooked(line))
		return tracing_start(line->tracer, &line->hook, pid, err);
	if (line->tracer->tally)
		return tally_start(line->tracer, line->state, &line->tally, pid, err);
	return watch_run(line->tracer, line->state, &line->watch, pid, err);
}

int trace_start(int argc, char **argv, struct uspl_err *err)
{
	const struct cli_option table[] = { VIEW_WAIT_OPTION };
	const struct cli_command about = {
		.name = "uspl-trace start",
		.synopsis = "[OPTION]... PID...",
		.summary = "Starts tracing running processes; 'uspl-trace tracers' lists what can "
			   "be seen of them",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	auto_line struct line line = { 0 };
	auto_vec pid_vec pids = { 0 };
	int rc = line_parse(&about, argc, argv, &line, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	if (line.tracer->launch) {
		uspl_fail(err, USPL_E_UNSUPPORTED, "the tracer '%s' sees how a program begins",
			  line.tracer->name);
		uspl_hint(err, "'uspl-trace exec --tracer=%s -- COMMAND' runs one",
			  line.tracer->name);
		return -USPL_E_UNSUPPORTED;
	}
	if (line.first == argc) {
		uspl_fail(err, USPL_E_USAGE, "no pid given");
		uspl_hint(err, "try 'uspl-trace start --help'");
		return -USPL_E_USAGE;
	}
	if (line.tracer->watch && argc - line.first > 1)
		return uspl_fail(err, USPL_E_USAGE,
				 "the tracer '%s' observes one process at a time",
				 line.tracer->name);
	rc = cli_pids(argv + line.first, argc - line.first, &pids, err);
	if (rc)
		return rc;
	cancel_catch();
	return permitted_for_each("trace start", &pids, start_one, &line);
}
