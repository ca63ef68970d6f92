// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_trace.c - trace the functions of running processes: the subcommands

#include <string.h>

#include "base/cli.h"
#include "base/worker.h"
#include "command/commands.h"
#include "trace/cmd/subcommands.h"

/* clang-format off */
static const struct {
	const char *name;
	int (*run)(int argc, char **argv, struct uspl_err *err);
	const char *summary;
	bool changes; /* the process, which is done by a worker (base/worker.h) */
} subcommands[] = {
	{ "start",  trace_start,  "start tracing a process", true },
	{ "exec",   trace_exec,   "run a program, observed from its first instruction", false },
	{ "cat",    trace_cat,    "print what was recorded", false },
	{ "report", trace_report, "print calls and times by function", false },
	{ "record", trace_record, "save what was recorded in a file", false },
	{ "stop",   trace_stop,   "stop tracing", true },
	{ "list",   trace_list,   "list functions, and how each can be traced", false },
	{ "mark",   trace_mark,   "list markers, and switch them on and off", true },
	{ "probe",  trace_probe,  "call a function of your own at markers", true },
	{ "top",    trace_top,    "show what runs now, by calls, time and latency", true },
	{ "tui",    trace_tui,    "show what was recorded on a terminal", false },
	{ "status", trace_status, "show what is traced where", false },
	{ "tracers", trace_tracers, "list the tracers", false },
};
/* clang-format on */

static int run(size_t i, int argc, char **argv, struct uspl_err *err)
{
	int status;

	if (subcommands[i].changes && !worker_begin(&status))
		return status;
	return subcommands[i].run(argc, argv, err);
}

int cmd_trace(int argc, char **argv, struct uspl_err *err)
{
	struct nearest nearest = { 0 };

	if (argc < 2) {
		uspl_fail(err, USPL_E_USAGE, "no subcommand given");
		uspl_hint(err, "try 'uspl-trace --help'");
		return -USPL_E_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		printf("usage: uspl-trace SUBCOMMAND [OPTION]... PID\n\nTraces the functions of "
		       "running processes\n\n");
		for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++)
			printf("  %-10s %s\n", subcommands[i].name, subcommands[i].summary);
		printf("\n'uspl-trace SUBCOMMAND --help' explains a subcommand\n");
		return USPL_STATUS_DONE;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("uspl-trace %s\n", USPL_VERSION);
		return USPL_STATUS_DONE;
	}
	if (!strcmp(argv[1], "keep"))
		return trace_keep(argc - 1, argv + 1, err);
	if (!strcmp(argv[1], "follow"))
		return trace_follow(argc - 1, argv + 1, err);
	nearest.word = argv[1];
	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++) {
		if (!strcmp(subcommands[i].name, argv[1]))
			return run(i, argc - 1, argv + 1, err);
		nearest_try(&nearest, subcommands[i].name);
	}
	uspl_fail(err, USPL_E_USAGE, "unknown subcommand '%s'", argv[1]);
	cli_hint_nearest(&nearest, "uspl-trace ", "uspl-trace", err);
	return -USPL_E_USAGE;
}
