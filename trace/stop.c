// SPDX-License-Identifier: GPL-3.0-or-later
// stop.c - uspl-trace stop: tracing ends

#include "base/cancel.h"
#include "trace/trace.h"

static int stop_one(void *ctx, pid_t pid, struct uspl_err *err)
{
	struct trace_switch result;
	struct view view;
	int rc = view_open(pid, true, &view, err);

	(void)ctx;
	if (rc)
		return rc;
	rc = session_stop(view.proc, &view.modules, &view.session, &result, err);
	if (rc)
		uspl_context(err, "cannot stop tracing pid %d", pid);
	else if (!cli_quiet())
		printf("stopped tracing pid %d: %zu functions, stopped %.0f us, switched in %.0f "
		       "us\n",
		       pid, result.sites, result.stop_us, result.switch_us);
	if (!rc && result.inside && !cli_quiet())
		printf("%zu threads are still in calls that were traced: the memory stays until "
		       "they have returned; 'uspl-trace stop %d' then takes it\n",
		       result.inside, pid);
	view_release(&view);
	return rc;
}

int trace_stop(int argc, char **argv, struct uspl_err *err)
{
	const struct cli_command cmd = {
		.name = "uspl-trace stop",
		.synopsis = "PID...",
		.summary = "Stops tracing; calls that are open return as they would have",
	};
	pid_vec pids = { 0 };
	int first, rc = cli_parse(&cmd, argc, argv, &first, err), worst = USPL_STATUS_DONE;

	if (rc == CLI_GO_ON && first == argc)
		rc = uspl_fail(err, USPL_E_USAGE, "no pid given");
	if (rc == CLI_GO_ON)
		rc = cli_pids(argv + first, argc - first, &pids, err);
	if (rc == CLI_GO_ON) {
		cancel_catch();
		worst = pids_for_each(&pids, stop_one, NULL);
	}
	vec_release(&pids);
	return rc < 0 ? rc : worst;
}
