// SPDX-License-Identifier: GPL-3.0-or-later
// line.c - the command line of start and exec: which tracer, and the options that it has

#include "trace/cmd/tracing.h"
#include "trace/cmd/line.h"
#include "trace/output/tracer.h"
#include "trace/tally/tally.h"
#include "trace/tracers/tracers.h"
#include "trace/watch/watch_loop.h"

bool line_is_hooked(const struct line *line)
{
	return line->tracer->hook || (line->tracer->tally && line->tracer->tally->cell_len);
}

static int add_common_options(const struct cli_command *about, struct line *line,
			      cli_option_vec *table, struct uspl_err *err)
{
	const struct cli_option option = {
		't',
		"tracer",
		"NAME",
		CLI_STRING,
		&line->tracer_name,
		"'graph' (default), 'function', or another one; each has options of its own",
	};
	int rc = cli_add_options(table, &option, 1, err);

	if (rc)
		return rc;
	return cli_add_options(table, about->options, about->n_options, err);
}

static struct cli_command command(const struct cli_command *about, const cli_option_vec *table)
{
	struct cli_command cmd = *about;

	cmd.options = table->items;
	cmd.n_options = table->n;
	return cmd;
}

/* Which tracer the line is for: the other options depend on it. */
static int find_tracer(const struct cli_command *about, int argc, char **argv, struct line *line,
		       struct uspl_err *err)
{
	auto_vec cli_option_vec table = { 0 };
	struct cli_command cmd;
	const char *name = NULL;
	int rc = add_common_options(about, line, &table, err);

	if (rc)
		return rc;
	rc = tracing_add_options(&line->hook, true, &table, err);
	if (rc)
		return rc;
	rc = watch_add_options(&line->watch, &table, err);
	if (rc)
		return rc;
	cmd = command(about, &table);
	name = cli_peek(&cmd, argc, argv, "tracer");
	return tracer_find(name ? name : "graph", &line->tracer, err);
}

static int parse_options(const struct cli_command *about, int argc, char **argv, struct line *line,
			 struct uspl_err *err)
{
	const struct tracer *tracer = line->tracer;
	const struct cli_option format = {
		0,
		"format",
		"NAME",
		CLI_STRING,
		&line->format,
		"what is printed, or saved in the file: as for cat, report and record"
	};
	auto_vec cli_option_vec table = { 0 };
	struct cli_command cmd;
	int rc = add_common_options(about, line, &table, err);

	if (rc)
		return rc;
	rc = line_is_hooked(line) ? tracing_add_options(&line->hook, tracer->hook, &table, err)
	     : tracer->tally      ? tally_add_options(&line->tally, &table, err)
	     : tracer->watch      ? watch_add_options(&line->watch, &table, err)
				  : 0;
	if (rc)
		return rc;
	if (line->prints && !tracer->watch && !tracer->launch)
		rc = cli_add_options(&table, &format, 1, err);
	if (rc)
		return rc;
	rc = tracer_add_options(tracer, line->state, &table, err);
	if (rc)
		return rc;
	cmd = command(about, &table);
	return cli_parse(&cmd, argc, argv, &line->first, err);
}

int line_parse(const struct cli_command *about, int argc, char **argv, struct line *line,
	       struct uspl_err *err)
{
	int rc = find_tracer(about, argc, argv, line, err);

	if (rc)
		return rc;
	line->state = calloc(1, line->tracer->state_size + 1);
	return line->state ? parse_options(about, argc, argv, line, err) : uspl_fail_nomem(err);
}

void line_release(struct line *line)
{
	tracing_options_release(&line->hook);
	tally_options_release(&line->tally);
	vec_release(&line->watch.triggers);
	free(line->state);
}
