// SPDX-License-Identifier: GPL-3.0-or-later
// trace_probe.c - uspl-trace probe: a function in C of the user's own at markers

#include <string.h>

#include "base/cancel.h"
#include "base/cli.h"
#include "base/file.h"
#include "trace/cmd/permitted.h"
#include "trace/cmd/program.h"
#include "trace/cmd/subcommands.h"
#include "trace/output/view.h"

/* Behind a function's name: its return. */
#define EXIT ":exit"

struct options {
	struct marks_request request;
	char session[USPL_MARK_SESSION_MAX];
	int buffer_kb, text_bytes;
	pid_t pid;
	const char *file;
};

/* A session of the file's name, unless the user gives one. */
static void name_session(struct options *opts)
{
	const char *name = file_basename(opts->file);
	size_t len = strcspn(name, ".");

	if (opts->request.session)
		return;
	snprintf(opts->session, sizeof(opts->session), "%.*s", (int)len, name);
	opts->request.session = opts->session;
}

/*
 * What --at names: markers have one ':' in their names, functions have none, or pairs of them, but
 * for that of their return.
 */
static void find_out(struct options *opts)
{
	const char *glob = opts->request.glob, *colon = strchr(glob, ':');
	size_t len = strlen(glob);

	opts->request.returns = len > strlen(EXIT) && !strcmp(glob + len - strlen(EXIT), EXIT);
	while (colon && colon[1] == ':')
		colon = strchr(colon + 2, ':');
	opts->request.functions = !colon || opts->request.returns;
}

static int parse(struct options *opts, int argc, char **argv, struct uspl_err *err)
{
	const struct cli_option table[] = {
		{ 0, "at", "GLOB", CLI_STRING, &opts->request.glob,
		  "markers of these names, or functions: their entries, or 'FUNCTION:exit'" },
		{ 'f', "filter", "CONDITION", CLI_STRING, &opts->request.filter,
		  "call it only at hits of which this is true" },
		{ 's', "session", "NAME", CLI_STRING, &opts->request.session,
		  "the session of its records (default: the file's name)" },
		{ 'm', "module", "GLOB", CLI_STRING, &opts->request.module,
		  "in these modules only (default: functions of the program itself)" },
		{ 0, "buffer", "KB", CLI_INT, &opts->buffer_kb,
		  "memory for each thread's records (default 1024)" },
		{ 0, "string", "BYTES", CLI_INT, &opts->text_bytes,
		  "how much of each string is recorded (default 48)" },
		VIEW_WAIT_OPTION,
	};
	const struct cli_command cmd = {
		.name = "uspl-trace probe",
		.synopsis = "[OPTION]... --at=MARKER|FUNCTION[:exit] PID FILE.c|FILE.o",
		.summary = "Calls a function of your own at markers, or when functions are called "
			   "or return",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	int first, rc = cli_parse(&cmd, argc, argv, &first, err);

	if (rc)
		return rc;
	if (argc - first != 2 || !opts->request.glob) {
		uspl_fail(err, USPL_E_USAGE, "a pid, a file and --at are needed");
		uspl_hint(err, "try 'uspl-trace probe --help'");
		return -USPL_E_USAGE;
	}
	find_out(opts);
	opts->file = argv[first + 1];
	name_session(opts);
	rc = cli_pid(argv[first], &opts->pid, err);
	if (rc)
		return rc;
	return trace_mark_sizes(&opts->request, opts->buffer_kb, opts->text_bytes, err);
}

static int load(void *ctx, pid_t pid, struct uspl_err *err)
{
	struct options *opts = ctx;
	struct marks_switched result;
	auto_view struct view view = { 0 };
	int rc = view_open_any(pid, true, &view, err);

	if (rc)
		return rc;
	rc = marks_on(view.proc, &view.modules, &opts->request, &result, err);
	if (rc) {
		uspl_context(err, "cannot put '%s' into pid %d", opts->file, opts->pid);
		return rc;
	}
	if (!cli_quiet())
		printf("'%s' is called at %zu sites of pid %d, stopped %.0f us; "
		       "'uspl-trace mark %d off --session=%s' ends it\n",
		       opts->file, result.probes, opts->pid, result.stop_us, opts->pid,
		       opts->request.session);
	if (result.impossible && !cli_quiet())
		printf("left out: %zu sites; marker %s\n", result.impossible, result.why);
	return 0;
}

int trace_probe(int argc, char **argv, struct uspl_err *err)
{
	struct options opts = { 0 };
	auto_program struct program program = { 0 };
	int rc = parse(&opts, argc, argv, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	cancel_catch();
	rc = program_open(opts.file, &program, err);
	if (rc)
		return rc;
	opts.request.program = &program.base;
	return permitted_run("trace probe", load, &opts, opts.pid, err);
}
