// SPDX-License-Identifier: GPL-3.0-or-later
// start.c - uspl-trace start: a tracer begins

#include "base/cancel.h"
#include "trace/trace.h"

struct options {
	const char *tracer;
	struct hook_options hook;
	struct watch_options watch;
	pid_vec pids;
};

/* The tracer that is to begin, with what it keeps. */
struct start {
	struct options opts;
	const struct tracer *tracer;
	void *state;
};

static void release(struct start *start)
{
	hook_options_release(&start->opts.hook);
	vec_release(&start->opts.pids);
	free(start->state);
}

static struct cli_command command(const cli_option_vec *table)
{
	return (struct cli_command){
		.name = "uspl-trace start",
		.synopsis = "[OPTION]... PID...",
		.summary = "Starts tracing running processes; 'uspl-trace tracers' lists what can "
			   "be seen of them",
		.options = table->items,
		.n_options = table->n,
	};
}

static int add_tracer_option(struct options *opts, cli_option_vec *table, struct uspl_err *err)
{
	const struct cli_option option = {
		't',
		"tracer",
		"NAME",
		CLI_STRING,
		&opts->tracer,
		"'graph' (default), 'function', or another one; each has options of its own",
	};

	return cli_add_options(table, &option, 1, err);
}

/* Which tracer the line is for: the other options depend on it. */
static int find_tracer(int argc, char **argv, struct start *start, struct uspl_err *err)
{
	cli_option_vec table = { 0 };
	struct cli_command cmd;
	const char *name = NULL;
	int rc = add_tracer_option(&start->opts, &table, err);

	if (!rc)
		rc = hook_add_options(&start->opts.hook, &table, err);
	if (!rc)
		rc = watch_add_options(&start->opts.watch, &table, err);
	if (!rc) {
		cmd = command(&table);
		name = cli_peek(&cmd, argc, argv, "tracer");
		rc = tracer_find(name ? name : "graph", &start->tracer, err);
	}
	vec_release(&table);
	return rc;
}

static int parse_line(int argc, char **argv, struct start *start, int *ret_first,
		      struct uspl_err *err)
{
	const struct tracer *tracer = start->tracer;
	cli_option_vec table = { 0 };
	struct cli_command cmd;
	int rc = add_tracer_option(&start->opts, &table, err);

	if (!rc)
		rc = tracer->hook ? hook_add_options(&start->opts.hook, &table, err)
				  : watch_add_options(&start->opts.watch, &table, err);
	if (!rc)
		rc = tracer_add_options(tracer, start->state, &table, err);
	if (!rc) {
		cmd = command(&table);
		rc = cli_parse(&cmd, argc, argv, ret_first, err);
	}
	vec_release(&table);
	return rc;
}

static int parse(int argc, char **argv, struct start *start, struct uspl_err *err)
{
	int first = argc, rc = find_tracer(argc, argv, start, err);

	if (rc)
		return rc;
	start->state = calloc(1, start->tracer->state_size + 1);
	if (!start->state)
		return uspl_fail_nomem(err);
	rc = parse_line(argc, argv, start, &first, err);
	if (rc)
		return rc;
	if (first == argc) {
		uspl_fail(err, USPL_E_USAGE, "no pid given");
		uspl_hint(err, "try 'uspl-trace start --help'");
		return -USPL_E_USAGE;
	}
	if (start->tracer->watch && argc - first > 1)
		return uspl_fail(err, USPL_E_USAGE,
				 "the tracer '%s' observes one process at a time",
				 start->tracer->name);
	return cli_pids(argv + first, argc - first, &start->opts.pids, err);
}

static int start_one(void *ctx, pid_t pid, struct uspl_err *err)
{
	struct start *start = ctx;

	return start->tracer->hook
		       ? hook_start(start->tracer, &start->opts.hook, pid, err)
		       : watch_run(start->tracer, start->state, &start->opts.watch, pid, err);
}

int trace_start(int argc, char **argv, struct uspl_err *err)
{
	struct start start = { 0 };
	int rc = parse(argc, argv, &start, err), worst = USPL_STATUS_DONE;

	if (rc == CLI_GO_ON) {
		cancel_catch();
		worst = pids_for_each(&start.opts.pids, start_one, &start);
	}
	release(&start);
	return rc < 0 ? rc : worst;
}
