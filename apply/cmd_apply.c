// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_apply.c - put updates into running processes

#include <string.h>

#include "apply/process.h"
#include "apply/replace.h"
#include "base/cancel.h"
#include "base/cli.h"
#include "base/file.h"
#include "base/log.h"
#include "command/commands.h"
#include "command/live_options.h"
#include "command/perf_map.h"
#include "command/permit.h"
#include "machine/fleet.h"
#include "machine/lacks.h"
#include "machine/updates.h"

struct options {
	struct live_options live;
	struct selection sel;
	bool enabled, perf_map;
	update_paths paths;
};

static int parse(int argc, char **argv, struct options *opts, struct uspl_err *err)
{
	const struct cli_option table[] = {
		{ 0, "enabled", NULL, CLI_FLAG, &opts->enabled,
		  "the updates that are enabled, instead of UPDATE" },
		{ 0, "replace", "ID,ID", CLI_OPTIONAL, &opts->live.replace,
		  "take the place of these updates (default: of those that it names)" },
		{ 0, "perf-map", NULL, CLI_FLAG, &opts->perf_map,
		  "tell perf the names of the new code, in /tmp/perf-PID.map" },
		SELECTION_ALL(&opts->sel),
		SELECTION_OPTIONS(&opts->sel),
		LIVE_OPTIONS(&opts->live),
	};
	const struct cli_command cmd = {
		.name = "uspl-apply",
		.synopsis = "[OPTION]... UPDATE... [PID]...",
		.summary = "Puts updates (uspl-ID.tar.gz, or their unpacked folders) into running "
			   "processes",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	int first, rest, rc = cli_parse(&cmd, argc, argv, &first, err);
	bool has_updates;

	if (rc)
		return rc;
	rc = live_options_agree(&opts->live, err);
	if (rc)
		return rc;
	rc = replace_check(opts->live.replace, err);
	if (rc)
		return rc;
	rest = argc - first;
	if (!opts->enabled) {
		rc = updates_pick(argv + first, argc - first, &opts->paths, &rest, err);
		if (rc)
			return rc;
	}
	rc = selection_read(&opts->sel, argv + first, rest, err);
	if (rc)
		return rc;
	has_updates = opts->enabled || opts->paths.n;
	if (has_updates && !selection_is_empty(&opts->sel))
		return CLI_GO_ON;
	uspl_fail(err, USPL_E_USAGE, has_updates ? "no pid given" : "no update given");
	uspl_hint(err, "try 'uspl-apply --help'");
	return -USPL_E_USAGE;
}

/* What is to be applied, and where it is looked for. */
struct job {
	const struct options *opts;
	const update_vec *updates;
};

/*
 * A process that wasn't named, and that has ended since it was found, or runs another program now,
 * or only what another one of several updates is for.
 */
static bool is_passed_over(const struct crew_member *member, int rc)
{
	return !member->named &&
	       (rc == -USPL_E_NO_PROCESS || rc == -USPL_E_ZOMBIE || rc == -USPL_E_NO_MODULE);
}

/* Leaves a note of it in the machine's log; what changes nothing has none. */
static void note(const struct job *job, const struct update *update, const struct report *report,
		 int rc, const struct uspl_err *why)
{
	const struct audit_event event = {
		.command = "apply",
		.pid = report->pid,
		.build_id = report->regions.n ? report->regions.items[0]->build_id : NULL,
		.update = update->id,
		.digest = update->file.digest,
		.signer = update->file.signer.key,
		.stop_us = report->result.stop_us,
	};
	struct uspl_err err = { 0 };

	if (job->opts->live.check || (!rc && report->already))
		return;
	if (permit_note(job->opts->live.permit, event, rc, why, &err) != 0)
		uspl_err_note(stderr, &err);
}

/* One update: prints the line or object, and returns the exit status that it stands for. */
static int apply_one(const struct job *job, const struct update *update, const char *path,
		     const struct crew_member *member)
{
	pid_t pid = member->process.pid;
	struct live_options opts = job->opts->live;
	auto_report struct report report = { .id = update->id, .pid = pid };
	struct uspl_err err = { 0 };
	auto_buf struct buf out = { 0 };
	auto_regions region_vec regions = { 0 };
	char *const *remark;
	int failed, rc;

	opts.starttime = member->process.starttime;
	failed = process_apply(update, pid, &opts, &regions, &report, &err);
	if (is_passed_over(member, failed)) {
		log_info("apply", "pid %d is passed over: %s", pid, err.msg);
		return USPL_STATUS_DONE;
	}
	rc = failed ? failed : report_verdict(&report, &err);
	if (rc) {
		uspl_context(&err, "cannot apply '%s' to pid %d", file_basename(path), pid);
		uspl_err_print(stderr, "uspl-apply", &err);
	}
	if (report_note_hooks(&report, NULL) != 0)
		log_info("apply", "out of memory: what is said of pid %d isn't all", pid);
	vec_for_each (&report.remarks, remark)
		fprintf(stderr, "%s\n", *remark);
	report.one_of_many = selection_is_many(&job->opts->sel);
	if (opts.json || !cli_quiet())
		report_outcome(&report, failed ? &err : NULL, opts.json, &out);
	fputs(buf_str(&out), stdout);
	fflush(stdout);
	note(job, update, &report, rc, &err);
	if (!rc && job->opts->perf_map && !opts.check &&
	    perf_map_write(pid, opts.starttime, &regions, &err) != 0) {
		uspl_context(&err, "perf is not told of the new code");
		uspl_err_note(stderr, &err);
	}
	return (int)uspl_code_status(rc);
}

static int apply_all(const struct crew_member *member, const void *ctx)
{
	const struct job *job = ctx;
	int worst = USPL_STATUS_DONE;

	for (size_t i = 0; i < job->updates->n; i++) {
		int status =
			apply_one(job, job->updates->items[i], job->opts->paths.items[i], member);

		worst = status > worst ? status : worst;
	}
	return worst;
}

/* The work on a process, or on none in particular, wasn't done. */
static void tell_failure(const struct crew_member *member, const struct uspl_err *why,
			 const void *ctx)
{
	const struct job *job = ctx;
	struct uspl_err err = *why;
	pid_t pid = member->process.pid;

	for (size_t i = 0; pid && i < job->updates->n; i++) {
		const struct report report = { .id = job->updates->items[i]->id,
					       .pid = pid,
					       .one_of_many = true };
		auto_buf struct buf out = { 0 };

		report_outcome(&report, &err, job->opts->live.json, &out);
		fputs(buf_str(&out), stdout);
	}
	if (pid)
		uspl_context(&err, "cannot apply '%s' to pid %d",
			     file_basename(job->opts->paths.items[0]), pid);
	uspl_err_print(stderr, "uspl-apply", &err);
}

static int look_at(struct proc *proc, const void *ctx, enum search_answer *ret,
		   struct uspl_err *err)
{
	const struct job *job = ctx;

	return lacks_update(job->updates, proc, ret, err);
}

static int run(const struct options *opts, const update_vec *updates, struct uspl_err *err)
{
	const struct job job = { opts, updates };
	const struct fleet fleet = {
		.sel = &opts->sel,
		.work = { apply_all, tell_failure, &job },
		.look = look_at,
		.todo = "run what the update is for, and lack it",
		.what = "runs what the update is for",
		.none = USPL_E_NO_MODULE,
		.once = opts->live.check,
	};

	return fleet_run(&fleet, err);
}

/* What is enabled. It is no failure if nothing is, or no process runs what it is for. */
static int run_enabled(struct options *opts, struct uspl_err *err)
{
	const struct signature_terms terms = permit_terms(opts->live.permit);
	auto_updates update_vec updates = { 0 };
	auto_wanted wanted_vec wanted = { 0 };
	bool complete;
	int rc = wanted_read(&wanted, err);

	if (rc)
		return rc;
	rc = updates_wanted(&wanted, &terms, "uspl-apply", &opts->paths, &updates, err);
	if (rc)
		return rc;
	complete = updates.n == wanted.n;
	if (updates.n)
		rc = run(opts, &updates, err);
	if (rc == -USPL_E_NO_MODULE || (rc == -USPL_E_NO_PROCESS && !opts->sel.named.n))
		rc = USPL_STATUS_DONE;
	return rc || complete ? rc : USPL_STATUS_FAILED;
}

static int run_permitted(struct options *opts, struct uspl_err *err)
{
	const struct audit_event event = { .command = "apply" };
	auto_permit struct permit permit = { 0 };
	auto_updates update_vec updates = { 0 };
	struct signature_terms terms;
	struct uspl_err note = { 0 };
	int rc = permit_begin(&permit, err);

	if (rc)
		return rc;
	opts->live.permit = &permit;
	cancel_catch();
	if (opts->enabled) {
		rc = run_enabled(opts, err);
	} else {
		terms = permit_terms(&permit);
		rc = updates_read(&opts->paths, &terms, &updates, err);
		if (!rc)
			rc = run(opts, &updates, err);
	}
	/* Of updates that never came to a process, since their files were refused. */
	if (rc == -USPL_E_UNTRUSTED && !opts->live.check &&
	    permit_note(&permit, event, rc, err, &note) != 0)
		uspl_err_note(stderr, &note);
	return rc;
}

int cmd_apply(int argc, char **argv, struct uspl_err *err)
{
	struct options opts = { .live = LIVE_OPTIONS_DEFAULT };
	int rc = parse(argc, argv, &opts, err);

	if (rc == CLI_STOP)
		rc = USPL_STATUS_DONE;
	else if (!rc)
		rc = run_permitted(&opts, err);
	selection_release(&opts.sel);
	vec_release(&opts.paths);
	return rc;
}
