// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_list.c - what this machine is to have, and what its processes have

#include <stdio.h>
#include <string.h>

#include "base/cancel.h"
#include "base/cli.h"
#include "base/file.h"
#include "base/json.h"
#include "command/commands.h"
#include "machine/lacks.h"
#include "machine/metrics.h"
#include "machine/superseded.h"
#include "machine/wanted.h"
#include "machine/watch_socket.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_PROMETHEUS };

static const char *const format_names[] = { "text", "json", "prometheus" };

struct options {
	bool json;
	const char *format_name;
	const char *output;
	enum format format;
};

/* What is printed at the end: as JSON, as text, and what Prometheus gets. */
struct output {
	struct json json;
	struct buf text;
	metrics_update_vec metrics;
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
		{ 0, "json", NULL, CLI_FLAG, &opts->json, "print JSON, as --format=json does" },
		{ 0, "format", "FORMAT", CLI_STRING, &opts->format_name,
		  "text, json or prometheus, for node_exporter's textfile collector" },
		{ 'o', "output", "FILE", CLI_STRING, &opts->output,
		  "write to FILE, which is replaced as a whole" },
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

	struct nearest nearest = { 0 };
	int rc = cli_parse_alone(&cmd, argc, argv, err);

	if (rc)
		return rc;
	opts->format = opts->json ? FORMAT_JSON : FORMAT_TEXT;
	if (!opts->format_name)
		return 0;
	nearest.word = opts->format_name;
	for (size_t i = 0; i < ARRAY_SIZE(format_names); i++) {
		opts->format = (enum format)i;
		if (!strcmp(opts->format_name, format_names[i]))
			return 0;
		nearest_try(&nearest, format_names[i]);
	}
	uspl_fail(err, USPL_E_USAGE, "there is no format '%s'", opts->format_name);
	cli_hint_nearest(&nearest, "--format=", "uspl-list", err);
	return -USPL_E_USAGE;
}

static int look_at(struct proc *proc, const void *ctx, enum search_answer *ret,
		   struct uspl_err *err)
{
	return lacks_update(ctx, proc, ret, err);
}

/* An update whose file can't be read gets a line that says so, and the others are listed. */
static int look_up(struct entry *entry, struct uspl_err *err)
{
	const struct selection everything = { .all = true };
	const update_vec updates = { .items = &entry->update, .n = 1 };
	struct search search = { .sel = &everything, .look = look_at, .ctx = &updates };
	const struct search_found *found;
	int rc = wanted_load(entry->wanted, NULL, &entry->update, &entry->problem);

	if (rc == -USPL_E_NOMEM || rc == -USPL_E_CANCELLED) {
		*err = entry->problem;
		return rc;
	}
	if (rc)
		return 0;
	rc = superseded_by(entry->update, entry->installed, &entry->superseded, err);
	if (rc)
		return rc;
	rc = search_run(&search, &entry->result, err);
	search_release(&search);
	vec_for_each (&entry->result.found, found)
		*(found->answer == SEARCH_DONE ? &entry->n_applied : &entry->n_missing) += 1;
	return rc;
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

static void text_entry(const struct entry *entry, struct buf *out)
{
	const struct search_found *found;
	char since[32];

	add_date(entry->wanted->since, since, sizeof(since));
	if (entry->problem.code) {
		buf_addf(out, "%-16s %-20s damaged: %s\n", entry->wanted->id, since,
			 entry->problem.msg);
		return;
	}
	buf_addf(out, "%-16s %-20s applied in %zu, missing in %zu  %s\n", entry->wanted->id, since,
		 entry->n_applied, entry->n_missing, entry->update->description);
	if (entry->superseded)
		buf_addf(out, "  superseded: %s %s, which is installed, has the fix%s\n",
			 entry->update->upgrade.source, entry->superseded,
			 entry->wanted->keep ? "; kept all the same" : "");
	vec_for_each (&entry->result.found, found) {
		const struct watch_reason *reason = reason_of(entry, found);

		if (found->answer == SEARCH_DONE)
			continue;
		buf_addf(out, "  missing in pid %d", found->process.pid);
		if (reason)
			buf_addf(out, ", %s: %s", reason->waiting ? "waiting" : "refused",
				 reason->message);
		buf_addstr(out, "\n");
	}
}

static int metrics_entry(const struct entry *entry, metrics_update_vec *metrics,
			 struct uspl_err *err)
{
	struct metrics_update *update = vec_push(metrics);
	const struct search_found *found;

	if (!update)
		return uspl_fail_nomem(err);
	*update = (struct metrics_update){ .id = entry->wanted->id,
					   .since = entry->wanted->since,
					   .damaged = entry->problem.code != USPL_OK };
	if (entry->update && !(update->description = strdup(entry->update->description)))
		return uspl_fail_nomem(err);
	vec_for_each (&entry->result.found, found) {
		const struct watch_reason *reason = reason_of(entry, found);

		update->processes[found->answer == SEARCH_DONE ? METRICS_APPLIED
				  : !reason                    ? METRICS_MISSING
				  : reason->waiting            ? METRICS_WAITING
							       : METRICS_REFUSED]++;
	}
	return 0;
}

/* Prints what was gathered. */
static int put(const struct options *opts, struct output *output, struct uspl_err *err)
{
	struct buf *out = &output->text;

	if (opts->format == FORMAT_JSON) {
		json_close(&output->json, ']');
		out = &output->json.buf;
		buf_addstr(out, "\n");
	} else if (opts->format == FORMAT_PROMETHEUS) {
		auto_free char *answer = NULL;

		metrics_add(&output->metrics, watch_socket_ask(&answer, NULL) == 0, out);
	}
	if (out->oom)
		return uspl_fail_nomem(err);
	if (opts->output)
		return file_write(opts->output, buf_str(out), out->len, err);
	fputs(buf_str(out), stdout);
	return 0;
}

/* Looks an update up, and adds what there is to say of it. */
static int gather(const struct options *opts, struct entry *entry, struct output *output,
		  int *worst, struct uspl_err *err)
{
	int rc = look_up(entry, err), status = USPL_STATUS_DONE;

	/* 1 if a process lacks what is wanted, 3 if an update can't be read. */
	if (!rc && entry->problem.code)
		status = (int)uspl_code_status((int)entry->problem.code);
	else if (!rc && entry->n_missing)
		status = USPL_STATUS_REFUSED;
	if (!rc && opts->format == FORMAT_JSON)
		json_entry(entry, &output->json);
	else if (!rc && opts->format == FORMAT_PROMETHEUS)
		rc = metrics_entry(entry, &output->metrics, err);
	else if (!rc)
		text_entry(entry, &output->text);
	*worst = status > *worst ? status : *worst;
	update_free(entry->update);
	search_result_release(&entry->result);
	return rc;
}

static int list(const struct options *opts, struct output *output, struct uspl_err *err)
{
	auto_wanted wanted_vec all = { 0 };
	auto_watch_reasons watch_reason_vec reasons = { 0 };
	auto_dpkg dpkg_packages installed = { 0 };
	const struct wanted_update *wanted;
	int worst = USPL_STATUS_DONE, rc = wanted_read(&all, err);

	if (rc)
		return rc;
	if (all.n) {
		watch_socket_reasons(&reasons);
		rc = superseded_read_installed(&installed, err);
		if (rc)
			return rc;
	} else if (!cli_quiet()) {
		buf_addstr(&output->text,
			   opts->format == FORMAT_TEXT ? "no updates are enabled\n" : "");
	}
	json_open(&output->json, NULL, '[');
	vec_for_each (&all, wanted) {
		struct entry entry = { .wanted = wanted,
				       .reasons = &reasons,
				       .installed = &installed };

		rc = gather(opts, &entry, output, &worst, err);
		if (rc)
			return rc;
	}
	rc = put(opts, output, err);
	if (rc)
		return rc;
	/* For Prometheus the figures say what is missing. */
	return opts->format == FORMAT_PROMETHEUS ? USPL_STATUS_DONE : worst;
}

int cmd_list(int argc, char **argv, struct uspl_err *err)
{
	struct options opts = { 0 };
	struct output output = { 0 };
	int rc = parse(argc, argv, &opts, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	cancel_catch();
	rc = list(&opts, &output, err);
	json_release(&output.json);
	buf_release(&output.text);
	metrics_updates_release(&output.metrics);
	return rc;
}
