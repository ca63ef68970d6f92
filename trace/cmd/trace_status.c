// SPDX-License-Identifier: GPL-3.0-or-later
// trace_status.c - uspl-trace status: which processes are traced

#include <dirent.h>
#include <stdlib.h>

#include "base/confine.h"
#include "base/json.h"
#include "record/trace_records.h"
#include "trace/cmd/subcommands.h"
#include "trace/engine/session.h"
#include "trace/tracers/tracers.h"

static size_t count_sites(const struct trace_session *session)
{
	const struct trace_region *region;
	size_t sites = 0;

	vec_for_each (&session->regions, region)
		sites += region->sites.n;
	return sites;
}

static const char *state_of(const struct proc *proc, const struct trace_session *session)
{
	return session_is_copy(proc, session) ? "forked"
	       : trace_session_is_on(session) ? "on"
					      : "draining";
}

static void print_json(const struct proc *proc, const struct trace_session *session)
{
	auto_json struct json json = { 0 };

	json_open(&json, NULL, '{');
	json_number(&json, "pid", proc->pid);
	json_string(&json, "command", proc->comm);
	json_string(&json, "tracer", tracer_of(session)->name);
	json_string(&json, "state", state_of(proc, session));
	json_number(&json, "functions", (int64_t)count_sites(session));
	json_close(&json, '}');
	printf("%s\n", json_text(&json));
}

/* *any: a line stands above already. */
static void print_text(const struct proc *proc, const struct trace_session *session, bool *any)
{
	if (!*any)
		printf("%-8s %-16s %-10s %-10s %s\n", "PID", "COMMAND", "TRACER", "STATE",
		       "FUNCTIONS");
	*any = true;
	printf("%-8d %-16s %-10s %-10s %zu\n", proc->pid, proc->comm, tracer_of(session)->name,
	       state_of(proc, session), count_sites(session));
}

/* One process; none of what is wrong with it matters to the others. */
static void show(pid_t pid, bool json, bool *any)
{
	auto_proc struct proc *proc = NULL;
	auto_session struct trace_session session = { 0 };

	if (proc_open_scan(pid, &proc, NULL) || trace_session_read(proc, &session, NULL) ||
	    !session.regions.n)
		return;
	if (json)
		print_json(proc, &session);
	else
		print_text(proc, &session, any);
}

int trace_status(int argc, char **argv, struct uspl_err *err)
{
	bool json = false, any = false;
	const struct cli_option table[] = {
		{ 0, "json", NULL, CLI_FLAG, &json, "print a JSON object for each process" },
	};
	const struct cli_command cmd = {
		.name = "uspl-trace status",
		.synopsis = "[OPTION]...",
		.summary = "Shows which processes are traced",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	auto_closedir DIR *dir = NULL;
	struct dirent *entry;
	int first, rc = cli_parse(&cmd, argc, argv, &first, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	if (first < argc)
		return uspl_fail(err, USPL_E_USAGE, "unexpected operand '%s'", argv[first]);
	confine(CONFINE_LOOK);
	dir = opendir("/proc");
	if (!dir)
		return uspl_fail_errno(err, "cannot open '/proc'");
	while ((entry = readdir(dir)))
		if (atol(entry->d_name) > 0)
			show((pid_t)atol(entry->d_name), json, &any);
	return USPL_STATUS_DONE;
}
