// SPDX-License-Identifier: GPL-3.0-or-later
// trace_top.c - uspl-trace top: what runs in a process now, function by function
/*
 * If nothing is traced there the tracer `profile` is started, and stopped at the end, whatever ends
 * it but SIGKILL. All that is shown are differences of its sums. A reading costs what there is to
 * be read; the next one waits a hundred times as long, so that the tool takes no more than a
 * hundredth of a processor however many functions and threads there are.
 */

#include "trace/top/top.h"

#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/cli.h"
#include "base/clock.h"
#include "trace/cmd/permitted.h"
#include "trace/cmd/subcommands.h"
#include "trace/cmd/switched.h"
#include "trace/cmd/tracing.h"
#include "trace/engine/session.h"
#include "trace/top/top_screen.h"
#include "trace/top/top_table.h"
#include "trace/tracers/tracers.h"

struct options {
	struct tracing_options tracing;
	double interval_s;
	int count, n_rows;
	bool batch;
	const char *sort, *filter;
	pid_t pid;
};

static void add_table(struct top *top, const struct options *opts, struct buf *out)
{
	size_t n = opts->n_rows && (size_t)opts->n_rows < top->shown ? (size_t)opts->n_rows
								     : top->shown;

	if (opts->tracing.json) {
		top_table_json_title(&top->rows, n, out);
	} else {
		buf_addstr(out, "# ");
		top_table_title(&top->rows, out);
		buf_addstr(out, "\n");
		top_table_head(out);
	}
	buf_addstr(out, "\n");
	for (size_t i = 0; i < n; i++) {
		if (opts->tracing.json)
			top_table_json(&top->rows, &top->rows.rows.items[i], out);
		else
			top_table_row(&top->rows, &top->rows.rows.items[i], out);
		buf_addstr(out, "\n");
	}
	if (!opts->tracing.json)
		buf_addstr(out, "\n");
}

/* A table for each interval. */
static int run_batch(struct top *top, const struct options *opts, struct uspl_err *err)
{
	for (int i = 0; !opts->count || i < opts->count; i++) {
		auto_buf struct buf out = { 0 };
		int rc;

		if (top_wait(top, -1, top->next_ns) == TOP_OVER)
			return 0;
		rc = top_read(top, err);
		if (rc)
			return rc;
		top->shown = top_row_sort(&top->rows.rows, &top->rows.names, top->key, top->filter);
		add_table(top, opts, &out);
		if (out.oom)
			return uspl_fail_nomem(err);
		fputs(buf_str(&out), stdout);
		if (fflush(stdout))
			return uspl_fail_errno(err, "cannot print");
	}
	return 0;
}

static int show(struct top *top, const struct options *opts, struct uspl_err *err)
{
	int rc = top_read(top, err);

	if (rc)
		return rc;
	if (opts->batch)
		rc = run_batch(top, opts, err);
	else
		rc = top_screen_run(top, err);
	/* The reading may be what has found out. */
	return rc && top_has_ended(top) ? 0 : rc;
}

static int start_one(void *ctx, pid_t pid, struct uspl_err *err)
{
	struct options *opts = ctx;

	opts->tracing.silent = true;
	return tracing_start(&tracer_profile, &opts->tracing, pid, err);
}

/* Somebody else may have stopped it. */
static int stop_one(void *ctx, pid_t pid, struct uspl_err *err)
{
	struct trace_switch result = { 0 };
	auto_view struct view view = { 0 };
	int rc = view_open(pid, true, &view, err);

	(void)ctx;
	if (rc == -USPL_E_NOT_APPLIED)
		return 0;
	if (rc)
		return rc;
	rc = session_stop(view.proc, &view.modules, &view.session, &(struct session_end){ 0 },
			  &result, err);
	if (rc)
		uspl_context(err, "cannot stop tracing pid %d", pid);
	else if (result.inside && !cli_quiet())
		fprintf(stderr,
			"%zu thread%s still in calls that were traced: the memory stays until they "
			"have returned; 'uspl-trace stop %d' then takes it\n",
			result.inside, result.inside == 1 ? " is" : "s are", pid);
	return rc;
}

/* Opens the process. Starts the tracer if nothing is traced there; *ret_ours: it has. */
static int begin(struct options *opts, struct top *top, bool *ret_ours, struct uspl_err *err)
{
	int rc;

	top->end_fd = (int)syscall(SYS_pidfd_open, opts->pid, 0);
	if (top->end_fd < 0)
		return uspl_fail_errno(err, "cannot wait for pid %d", opts->pid);
	rc = top_rows_open(&top->rows, opts->pid, err);
	if (rc != -USPL_E_NOT_APPLIED)
		return rc;
	top_rows_close(&top->rows);
	top->rows = (struct top_rows){ 0 };
	rc = permitted_run("trace start", start_one, opts, opts->pid, err);
	*ret_ours = !rc;
	if (rc)
		return rc;
	return top_rows_open(&top->rows, opts->pid, err);
}

static int run(struct options *opts, struct uspl_err *err)
{
	struct top top = { .end_fd = -1,
			   .interval_ns = (int64_t)(opts->interval_s * 1e9),
			   .key = TOP_SELF,
			   .filter = opts->filter };
	struct uspl_err stop_err = { 0 };
	bool ours = false;
	int rc = opts->sort ? top_key_find(opts->sort, &top.key, err) : 0, stop_rc;

	if (rc)
		return rc;
	rc = begin(opts, &top, &ours, err);
	if (!rc)
		rc = show(&top, opts, err);
	top_rows_close(&top.rows);
	if (ours && !top_has_ended(&top)) {
		/* The one that has ended it isn't meant to leave the process traced. */
		cancel_forget();
		stop_rc = permitted_run("trace stop", stop_one, opts, opts->pid, &stop_err);
		if (stop_rc && !top_has_ended(&top) && !rc) {
			*err = stop_err;
			rc = stop_rc;
		}
	}
	if (top.end_fd >= 0)
		close(top.end_fd);
	return rc;
}

int trace_top(int argc, char **argv, struct uspl_err *err)
{
	struct options opts = { .interval_s = 1, .filter = "" };
	const struct cli_option own[] = {
		{ 'd', "interval", "TIME", CLI_SECONDS, &opts.interval_s,
		  "between two tables (default 1s); more if reading takes more than 1 % of that" },
		{ 'b', "batch", NULL, CLI_FLAG, &opts.batch,
		  "print a table for each interval (default where there is no terminal)" },
		{ 'n', "count", "N", CLI_INT, &opts.count,
		  "with --batch: end after so many tables" },
		{ 0, "rows", "N", CLI_INT, &opts.n_rows, "with --batch: at most so many lines" },
		{ 's', "sort", "KEY", CLI_STRING, &opts.sort,
		  "'self' (default), 'calls', 'total', 'avg', 'p99', 'max', 'name'" },
		{ 'f', "filter", "TEXT", CLI_STRING, &opts.filter,
		  "show functions with this in their name, or that match it ('read*')" },
	};
	auto_vec cli_option_vec table = { 0 };
	struct cli_command cmd = {
		.name = "uspl-trace top",
		.synopsis = "[OPTION]... PID",
		.summary = "Shows what runs in a process now, by calls, time and latency",
	};
	int first, rc = cli_add_options(&table, own, ARRAY_SIZE(own), err);

	if (!rc)
		rc = tracing_add_options(&opts.tracing, false, &table, err);
	cmd.options = table.items;
	cmd.n_options = table.n;
	if (!rc)
		rc = cli_parse(&cmd, argc, argv, &first, err);
	if (!rc && argc - first != 1)
		rc = uspl_fail(err, USPL_E_USAGE, "one pid is needed");
	if (!rc)
		rc = cli_pid(argv[first], &opts.pid, err);
	if (!rc) {
		opts.batch |= opts.tracing.json || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO);
		cancel_catch();
		/* A reader that goes ends it as ^C does. */
		signal(SIGPIPE, SIG_IGN);
		rc = run(&opts, err);
	}
	tracing_options_release(&opts.tracing);
	return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
}
