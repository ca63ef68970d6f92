// SPDX-License-Identifier: GPL-3.0-or-later
// trace_follow.c - a process that looks which libraries a traced one opens, and traces them, too
//
// It is `uspl-trace follow OPTION... PID`, a companion (companion.h). What it does is in
// trace/tracers/following.c. When the session is gone the follower ends.

#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cancel.h"
#include "trace/cmd/companion.h"
#include "trace/cmd/subcommands.h"
#include "trace/cmd/trace_keep.h"
#include "trace/cmd/tracing.h"
#include "trace/tracers/following.h"

int trace_follow(int argc, char **argv, struct uspl_err *err)
{
	auto_tracing_options struct tracing_options opts = { 0 };
	auto_following struct following following = { 0 };
	auto_vec cli_option_vec table = { 0 };
	struct cli_command cmd = {
		.name = "uspl-trace follow",
		.synopsis = "[OPTION]... PID",
		.summary = "This is for 'uspl-trace start'",
	};
	struct uspl_err why = { 0 };
	struct pollfd end = { .events = POLLIN };
	pid_t pid;
	int first, rc = tracing_add_options(&opts, false, &table, err);

	if (rc)
		return rc;
	cmd.options = table.items;
	cmd.n_options = table.n;
	rc = cli_parse(&cmd, argc, argv, &first, err);
	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	if (argc - first != 1)
		return uspl_fail(err, USPL_E_USAGE, "this is for 'uspl-trace start'");
	rc = cli_pid(argv[first], &pid, err);
	if (rc)
		return rc;
	prctl(PR_SET_NAME, "uspl-follower");
	if (chdir("/") < 0)
		return uspl_fail_errno(err, "cannot leave the folder");
	cancel_catch();
	following.choice = tracing_choice(&opts);
	following.keep_mcount = opts.keep_mcount;
	following.loaded = trace_keep_start;
	end.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (end.fd < 0)
		rc = uspl_fail_errno(&why, "cannot wait for the end of pid %d", pid);
	else
		rc = following_begin(&following, pid, &why);
	companion_ready(rc ? why.msg : "");
	while (!rc && !cancel_requested() && following_goes_on(&following)) {
		if (following_has_news(&following))
			rc = following_take(&following, NULL);
		if (!rc && poll(&end, 1, following_pause_ms(&following)) > 0)
			break;
	}
	if (rc)
		return rc;
	return USPL_STATUS_DONE;
}
