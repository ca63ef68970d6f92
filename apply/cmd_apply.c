// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_apply.c - put an update into running processes

#include <string.h>

#include "apply/process.h"
#include "base/cancel.h"
#include "base/cli.h"
#include "base/file.h"
#include "command/commands.h"
#include "command/live_options.h"

static int parse(int argc, char **argv, struct live_options *opts, int *first, struct uspl_err *err)
{
	const struct cli_option table[] = {
		LIVE_OPTIONS(opts),
	};
	const struct cli_command cmd = {
		.name = "uspl-apply",
		.synopsis = "[OPTION]... UPDATE PID...",
		.summary = "Puts an update (uspl-ID.tar.gz, or its unpacked folder) into running "
			   "processes",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	int rc = cli_parse(&cmd, argc, argv, first, err);

	if (rc)
		return rc;
	if (argc - *first >= 2)
		return CLI_GO_ON;
	uspl_fail(err, USPL_E_USAGE, argc == *first ? "no update given" : "no pid given");
	uspl_hint(err, "try 'uspl-apply --help'");
	return -USPL_E_USAGE;
}

/*
 * One process: applies, prints its line or object, and returns the exit status that it stands for.
 */
static int apply_one(const struct update *update, const char *name, pid_t pid,
		     const struct live_options *opts)
{
	auto_report struct report report = { .id = update->id, .pid = pid };
	struct uspl_err err = { 0 };
	auto_buf struct buf out = { 0 };
	auto_regions region_vec regions = { 0 };
	char *const *remark;
	int failed = process_apply(update, pid, opts, &regions, &report, &err),
	    rc = failed ? failed : report_verdict(&report, &err);

	if (rc) {
		uspl_context(&err, "cannot apply '%s' to pid %d", name, pid);
		uspl_err_print(stderr, "uspl-apply", &err);
	}
	vec_for_each (&report.remarks, remark)
		fprintf(stderr, "%s\n", *remark);
	if (opts->json || !cli_quiet())
		report_outcome(&report, failed ? &err : NULL, opts->json, &out);
	fputs(buf_str(&out), stdout);
	fflush(stdout);
	return (int)uspl_code_status(rc);
}

int cmd_apply(int argc, char **argv, struct uspl_err *err)
{
	struct live_options opts = LIVE_OPTIONS_DEFAULT;
	auto_update struct update *update = NULL;
	int first, rc = parse(argc, argv, &opts, &first, err), worst = USPL_STATUS_DONE;
	auto_vec pid_vec pids = { 0 };
	const pid_t *pid;

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	cancel_catch();
	rc = cli_pids(argv + first + 1, argc - first - 1, &pids, err);
	if (rc)
		return rc;
	rc = update_read(argv[first], &update, err);
	if (rc)
		return rc;
	vec_for_each (&pids, pid) {
		int status = apply_one(update, file_basename(argv[first]), *pid, &opts);

		worst = status > worst ? status : worst;
	}
	return worst;
}
