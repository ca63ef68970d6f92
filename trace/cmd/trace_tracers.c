// SPDX-License-Identifier: GPL-3.0-or-later
// trace_tracers.c - uspl-trace tracers: prints the table of tracers

#include <stdio.h>

#include "base/cli.h"
#include "trace/cmd/subcommands.h"
#include "trace/tracers/tracers.h"

int trace_tracers(int argc, char **argv, struct uspl_err *err)
{
	const struct cli_command cmd = {
		.name = "uspl-trace tracers",
		.synopsis = "",
		.summary = "Lists the tracers; 'uspl-trace start --tracer=NAME --help' has the "
			   "options of one",
	};
	const struct tracer *tracer;
	int first, rc = cli_parse(&cmd, argc, argv, &first, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	if (first < argc)
		return uspl_fail(err, USPL_E_USAGE, "unexpected operand '%s'", argv[first]);
	for (size_t i = 0; (tracer = tracer_at(i)); i++)
		printf("%-10s %s\n", tracer->name, tracer->help);
	return USPL_STATUS_DONE;
}
