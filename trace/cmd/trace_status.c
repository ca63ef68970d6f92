// SPDX-License-Identifier: GPL-3.0-or-later
// trace_status.c - uspl-trace status: which processes are traced

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/json.h"
#include "machine/lookout.h"
#include "record/trace_records.h"
#include "trace/cmd/subcommands.h"
#include "trace/engine/session.h"
#include "trace/log/last_trace.h"
#include "trace/log/saved.h"
#include "trace/tracers/tracers.h"

/* Of a saved trace: its modules and functions have room in as much. */
#define HEAD_MAX (16 << 20)

static size_t count_sites(const struct trace_session *session)
{
	const struct trace_region *region;
	size_t sites = 0;

	vec_for_each (&session->regions, region)
		sites += region->sites.n;
	return sites;
}

/* A process that is traced, or was. */
struct row {
	pid_t pid;
	const char *comm, *state;
	const struct trace_session *session;
};

/* How it is printed. */
struct table {
	bool json;
	bool any; /* a line stands above already */
};

static void print_row(struct table *table, const struct row *row)
{
	auto_json struct json json = { 0 };

	if (table->json) {
		json_open(&json, NULL, '{');
		json_number(&json, "pid", row->pid);
		json_string(&json, "command", row->comm);
		json_string(&json, "tracer", tracer_of(row->session)->name);
		json_string(&json, "state", row->state);
		json_number(&json, "functions", (int64_t)count_sites(row->session));
		json_close(&json, '}');
		printf("%s\n", json_text(&json));
		return;
	}
	if (!table->any)
		printf("%-8s %-16s %-10s %-10s %s\n", "PID", "COMMAND", "TRACER", "STATE",
		       "FUNCTIONS");
	table->any = true;
	printf("%-8d %-16s %-10s %-10s %zu\n", row->pid, row->comm, tracer_of(row->session)->name,
	       row->state, count_sites(row->session));
}

/* One process; none of what is wrong with it matters to the others. */
static void show(pid_t pid, struct table *table)
{
	auto_proc struct proc *proc = NULL;
	auto_session struct trace_session session = { 0 };
	const char *state;

	if (!lookout_may(pid) || proc_open_scan(pid, &proc, NULL) ||
	    trace_session_read(proc, &session, NULL) || !session.regions.n)
		return;
	state = session_is_copy(proc, &session) ? "forked"
		: trace_session_is_on(&session) ? "on"
						: "draining";
	print_row(table, &(struct row){ pid, proc->comm, state, &session });
}

/* A process that is over, whose trace is there. */
static void show_last(void *ctx, const char *path)
{
	auto_saved struct trace_saved saved = { 0 };
	auto_close int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	auto_free char *bytes = malloc(HEAD_MAX);
	ssize_t len = fd < 0 || !bytes ? -1 : pread(fd, bytes, HEAD_MAX, 0);

	if (len < 0)
		return;
	saved_parse_head(bytes, (size_t)len, &saved);
	if (saved.session.regions.n)
		print_row(ctx, &(struct row){ saved.pid, saved.comm, "over", &saved.session });
}

int trace_status(int argc, char **argv, struct uspl_err *err)
{
	struct table rows = { 0 };
	const struct cli_option table[] = {
		{ 0, "json", NULL, CLI_FLAG, &rows.json, "print a JSON object for each process" },
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
	struct uspl_err left;
	int first, rc = cli_parse(&cmd, argc, argv, &first, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	if (first < argc)
		return uspl_fail(err, USPL_E_USAGE, "unexpected operand '%s'", argv[first]);
	if (!lookout_begin(&rc, err))
		return rc;
	confine(CONFINE_LOOK);
	dir = opendir("/proc");
	if (!dir)
		return uspl_fail_errno(err, "cannot open '/proc'");
	while ((entry = readdir(dir)))
		if (atol(entry->d_name) > 0)
			show((pid_t)atol(entry->d_name), &rows);
	lookout_end();
	for (size_t i = 0; lookout_left(i, &left); i++)
		uspl_err_note(stderr, &left);
	rc = last_traces_for_each(show_last, &rows, err);
	if (rc)
		return rc;
	return USPL_STATUS_DONE;
}
