// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_trace.c - trace the functions of running processes: the subcommands

#include <string.h>

#include "base/cli.h"
#include "trace/subcommands.h"
#include "uspl/commands.h"

/* clang-format off */
static const struct {
	const char *name;
	int (*run)(int argc, char **argv, struct uspl_err *err);
	const char *summary;
} subcommands[] = {
	{ "start",  trace_start,  "start tracing a process" },
	{ "exec",   trace_exec,   "run a program that is observed from its first instruction" },
	{ "cat",    trace_cat,    "print what was recorded" },
	{ "report", trace_report, "print calls and times by function" },
	{ "record", trace_record, "save what was recorded in a file" },
	{ "stop",   trace_stop,   "stop tracing" },
	{ "list",   trace_list,   "list functions, and how each can be traced" },
	{ "mark",   trace_mark,   "list markers, and switch them on and off" },
	{ "probe",  trace_probe,  "call a function of your own at markers" },
	{ "status", trace_status, "show what is traced where" },
	{ "tracers", trace_tracers, "list the tracers" },
};
/* clang-format on */

static void print_help(void)
{
	printf("usage: uspl-trace SUBCOMMAND [OPTION]... PID\n\nTraces the functions of running "
	       "processes\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++)
		printf("  %-10s %s\n", subcommands[i].name, subcommands[i].summary);
	printf("\n'uspl-trace SUBCOMMAND --help' explains a subcommand\n");
}

int cmd_trace(int argc, char **argv, struct uspl_err *err)
{
	if (argc < 2) {
		uspl_fail(err, USPL_E_USAGE, "no subcommand given");
		uspl_hint(err, "try 'uspl-trace --help'");
		return -USPL_E_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		print_help();
		return USPL_STATUS_DONE;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("uspl-trace %s\n", USPL_VERSION);
		return USPL_STATUS_DONE;
	}
	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++)
		if (!strcmp(subcommands[i].name, argv[1]))
			return subcommands[i].run(argc - 1, argv + 1, err);
	uspl_fail(err, USPL_E_USAGE, "unknown subcommand '%s'", argv[1]);
	uspl_hint(err, "try 'uspl-trace --help'");
	return -USPL_E_USAGE;
}
