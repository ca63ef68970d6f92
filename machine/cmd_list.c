// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_list.c - what this machine is to have, and what its processes have

#include <stdio.h>
#include <string.h>

#include "base/cancel.h"
#include "base/cli.h"
#include "base/json.h"
#include "command/commands.h"
#include "machine/lacks.h"
#include "machine/superseded.h"
#include "machine/wanted.h"
#include "machine/watch_socket.h"

struct options {
	bool json;
};

/* A wanted update, and the processes that run what it is for. */
struct entry {
	const struct wanted_update *wanted;
	struct update *update;
	struct uspl_err problem; /* why it can't be read; code 0: it can */
	struct search_result result;
	size_t n_applied, n_missing;
	const watch_reason_vec *reasons; /* what a watch has said, of all updates */
	const dpkg_packages *installed;
	const char *superseded; /* the installed version that has its fix; NULL */
};

static int parse(int argc, char **argv, struct options *opts, struct uspl_err *err)
{
	const struct cli_option table[] = {
		{ 0, "json", NULL, CLI_FLAG, &opts->json, "print JSON" },
	};
	const struct cli_command cmd = {
		.name = "uspl-list",
		.synopsis = "[OPTION]...",
		.summary =
			"Lists the updates that are enabled, and the processes that have or lack "
			"them",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};

	return cli_parse_alone(&cmd, argc, argv, err);
}

static int look_at(struct proc *proc, const void *ctx, enum search_answer *ret,
		   struct uspl_err *err)
{
	return lacks_update(ctx, proc, ret, err);
}

static int find_processes(struct entry *entry, struct uspl_err *err)
{
	struct update *items[] = { entry->update };
	const update_vec updates = { .items = items, .n = 1 };
	const struct selection everything = { .all = true };
	struct search search = { .sel = &everything, .look = look_at, .ctx = &updates };
	const struct search_found *found;
	int rc = search_run(&search, &entry->result, err);

	strmap_release(&search.known);
	vec_for_each (&entry->result.found, found)
		*(found->answer == SEARCH_DONE ? &entry->n_applied : &entry->n_missing) += 1;
	return rc;
}

/* An update whose file can't be read gets a line that says so, and the others are listed. */
static int look_up(struct entry *entry, struct uspl_err *err)
{
	int rc = wanted_load(entry->wanted, NULL, &entry->update, &entry->problem);

	if (rc == -USPL_E_NOMEM || rc == -USPL_E_CANCELLED) {
		*err = entry->problem;
		return rc;
	}
	if (rc)
		return 0;
	rc = superseded_by(entry->update, entry->installed, &entry->superseded, err);
	return rc ? rc : find_processes(entry, err);
}

static void add_date(time_t since, char *text, size_t size)
{
	struct tm tm;

	text[0] = '\0';
	if (since && gmtime_r(&since, &tm))
		strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

/* Why a watch has left a process without it; NULL: it has it, or the watch doesn't say. */
static const struct watch_reason *reason_of(const struct entry *entry,
					    const struct search_found *found)
{
	const struct watch_reason *reason;

	if (found->answer == SEARCH_DONE)
		return NULL;
	vec_for_each (entry->reasons, reason)
		if (reason->pid == found->process.pid && !strcmp(reason->id, entry->wanted->id))
			return reason;
	return NULL;
}

static void json_entry(const struct entry *entry, struct json *json)
{
	const struct search_found *found;
	char since[32];

	add_date(entry->wanted->since, since, sizeof(since));
	json_open(json, NULL, '{');
	json_string(json, "id", entry->wanted->id);
	json_string(json, "sha256", entry->wanted->digest);
	if (since[0])
		json_string(json, "enabled_at", since);
	if (entry->problem.code) {
		json_string(json, "error", uspl_code_name((int)entry->problem.code));
		json_string(json, "message", entry->problem.msg);
	} else
		json_string(json, "description", entry->update->description);
	if (entry->superseded)
		json_string(json, "superseded_by", entry->superseded);
	if (entry->wanted->keep)
		json_truth(json, "keep", true);
	json_open(json, "processes", '[');
	vec_for_each (&entry->result.found, found) {
		const struct watch_reason *reason = reason_of(entry, found);

		json_open(json, NULL, '{');
		json_number(json, "pid", found->process.pid);
		json_string(json, "state", found->answer == SEARCH_DONE ? "applied" : "missing");
		if (reason) {
			json_string(json, "watch", reason->waiting ? "waiting" : "refused");
			json_string(json, "message", reason->message);
		}
		json_close(json, '}');
	}
	json_close(json, ']');
	json_close(json, '}');
}

static void print_entry(const struct entry *entry)
{
	const struct search_found *found;
	char since[32];

	add_date(entry->wanted->since, since, sizeof(since));
	if (entry->problem.code) {
		printf("%-16s %-20s damaged: %s\n", entry->wanted->id, since, entry->problem.msg);
		return;
	}
	printf("%-16s %-20s applied in %zu, missing in %zu  %s\n", entry->wanted->id, since,
	       entry->n_applied, entry->n_missing, entry->update->description);
	if (entry->superseded)
		printf("  superseded: %s %s, which is installed, has the fix%s\n",
		       entry->update->upgrade.source, entry->superseded,
		       entry->wanted->keep ? "; kept all the same" : "");
	vec_for_each (&entry->result.found, found) {
		const struct watch_reason *reason = reason_of(entry, found);

		if (found->answer == SEARCH_DONE)
			continue;
		printf("  missing in pid %d", found->process.pid);
		if (reason)
			printf(", %s: %s", reason->waiting ? "waiting" : "refused",
			       reason->message);
		putchar('\n');
	}
}

/* The status: 1 if a process lacks what is wanted, 3 if an update can't be read. */
static int status_of(const struct entry *entry)
{
	if (entry->problem.code)
		return (int)uspl_code_status((int)entry->problem.code);
	return entry->n_missing ? USPL_STATUS_REFUSED : USPL_STATUS_DONE;
}

static int list(const struct options *opts, struct uspl_err *err)
{
	auto_wanted wanted_vec all = { 0 };
	auto_watch_reasons watch_reason_vec reasons = { 0 };
	auto_dpkg dpkg_packages installed = { 0 };
	auto_json struct json json = { 0 };
	const struct wanted_update *wanted;
	int worst = USPL_STATUS_DONE, rc = wanted_read(&all, err);

	if (rc)
		return rc;
	if (all.n) {
		watch_socket_reasons(&reasons);
		rc = superseded_read_installed(&installed, err);
		if (rc)
			return rc;
	}
	json_open(&json, NULL, '[');
	vec_for_each (&all, wanted) {
		struct entry entry = { .wanted = wanted,
				       .reasons = &reasons,
				       .installed = &installed };
		int status;

		rc = look_up(&entry, err);
		if (!rc && opts->json)
			json_entry(&entry, &json);
		else if (!rc)
			print_entry(&entry);
		status = rc ? 0 : status_of(&entry);
		worst = status > worst ? status : worst;
		update_free(entry.update);
		search_result_release(&entry.result);
		if (rc)
			return rc;
	}
	json_close(&json, ']');
	if (json.buf.oom)
		return uspl_fail_nomem(err);
	if (opts->json)
		puts(json_text(&json));
	else if (!all.n && !cli_quiet())
		puts("no updates are enabled");
	return worst;
}

int cmd_list(int argc, char **argv, struct uspl_err *err)
{
	struct options opts = { 0 };
	int rc = parse(argc, argv, &opts, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	cancel_catch();
	return list(&opts, err);
}
