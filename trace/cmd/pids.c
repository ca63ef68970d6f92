// SPDX-License-Identifier: GPL-3.0-or-later
// pids.c - a subcommand for each of several processes

#include "trace/cmd/pids.h"

#include "base/cancel.h"
#include "trace/cmd/permitted.h"

int pids_for_each(const char *command, const pid_vec *pids,
		  int (*one)(void *ctx, pid_t pid, struct uspl_err *err), void *ctx)
{
	int worst = USPL_STATUS_DONE;
	const pid_t *pid;

	vec_for_each (pids, pid) {
		struct uspl_err one_err = { 0 };
		int rc = cancel_check(&one_err), status;

		if (rc)
			uspl_context(&one_err, "pid %d", *pid);
		else
			rc = permitted_run(command, one, ctx, *pid, &one_err);
		status = (int)uspl_code_status(rc);
		if (rc)
			uspl_err_print(stderr, "uspl-trace", &one_err);
		fflush(stdout);
		worst = status > worst ? status : worst;
	}
	return worst;
}
