// SPDX-License-Identifier: GPL-3.0-or-later
// permitted.c - subcommands that change a process, by leave of the machine's policy

#include "trace/cmd/permitted.h"

#include "base/cancel.h"
#include "command/permit.h"

int permitted_run(const char *command, int (*one)(void *ctx, pid_t pid, struct uspl_err *err),
		  void *ctx, pid_t pid, struct uspl_err *err)
{
	const struct audit_event event = { .command = command, .pid = pid };
	auto_permit struct permit permit = { 0 };
	struct uspl_err why = { 0 };
	double no_limit = 0;
	int rc = permit_begin(&permit, err);

	if (rc)
		return rc;
	rc = permit_pid(&permit, POLICY_TRACE, pid, &no_limit, err);
	if (rc)
		uspl_context(err, "pid %d", pid);
	else
		rc = one(ctx, pid, err);
	if (permit_note(&permit, event, rc, err, &why) != 0)
		uspl_err_note(stderr, &why);
	return rc;
}

int permitted_for_each(const char *command, const pid_vec *pids,
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
