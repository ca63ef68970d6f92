// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_undo.c - take an update back

#include <dirent.h>
#include <string.h>

#include "base/cancel.h"
#include "base/cli.h"
#include "base/clock.h"
#include "base/log.h"
#include "command/commands.h"
#include "command/interrupted.h"
#include "command/live_options.h"
#include "command/report.h"
#include "proc/proc_lock.h"
#include "record/journal.h"
#include "record/region_status.h"
#include "record/partial_mapping.h"

/* Between two tries where a library comes and goes. */
#define TRY_NS 5000000

struct options {
	struct live_options live;
	const char *id;
	bool everywhere; /* no process was named */
};

static int parse(int argc, char **argv, struct options *opts, int *first, struct uspl_err *err)
{
	const struct cli_option table[] = {
		LIVE_OPTIONS(&opts->live),
	};
	const struct cli_command cmd = {
		.name = "uspl-undo",
		.synopsis = "[OPTION]... ID [PID]...",
		.summary = "Takes an update back, in the given processes or in all that have it",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	int rc = cli_parse(&cmd, argc, argv, first, err);

	if (rc)
		return rc;
	if (argc == *first) {
		uspl_fail(err, USPL_E_USAGE, "no update id given");
		uspl_hint(err, "'uspl-view' lists the updates that are applied");
		return -USPL_E_USAGE;
	}
	opts->id = argv[(*first)++];
	/* The name of the tarball is as good. */
	if (!strncmp(opts->id, "uspl-", 5))
		opts->id += 5;
	return CLI_GO_ON;
}

/* The live regions of the update, as the transition wants them. Allocated; *ret_n counts them. */
static struct region **live_regions(const region_vec *regions, const char *id, size_t *ret_n)
{
	struct region **list = calloc(regions->n + 1, sizeof(*list)), *region;

	*ret_n = 0;
	vec_for_each (regions, region)
		if (list && region_has_id(region, id) && region_is_live(region))
			list[(*ret_n)++] = region;
	return list;
}

static bool is_known(const region_vec *regions, const char *id)
{
	const struct region *region;

	vec_for_each (regions, region)
		if (region_has_id(region, id))
			return true;
	return false;
}

static int fail_not_applied(pid_t pid, struct uspl_err *err)
{
	uspl_fail(err, USPL_E_NOT_APPLIED, "the update is not applied in pid %d", pid);
	uspl_hint(err, "'uspl-view' lists what is applied where");
	return -USPL_E_NOT_APPLIED;
}

/* A newer update that uses this one's code or data has to go first. */
static int check_not_built_on(const region_vec *regions, const char *id, struct uspl_err *err)
{
	const struct region *region;

	vec_for_each (regions, region) {
		if (!region_is_live(region) || !region_builds_on(region, id))
			continue;
		uspl_fail(err, USPL_E_CONFLICT, "the update '%s' builds on it", region->id);
		uspl_hint(err, "undo '%s' first", region->id);
		return -USPL_E_CONFLICT;
	}
	return 0;
}

/* What is wanted and not in effect: the mark of a library that isn't there. Adds their names. */
static int forget_pending(const struct options *opts, const struct proc *proc, region_vec *regions,
			  struct report *report, struct uspl_err *err)
{
	struct region *region;
	int rc = 0;

	vec_for_each (regions, region) {
		if (!region_has_id(region, opts->id) || region_is_live(region) ||
		    !region_is_wanted(region))
			continue;
		rc = opts->live.check ? 0 : region_write_retired(proc, region, err);
		if (rc)
			return rc;
		rc = report_add_pending(report, region->module_name, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* The transition of the regions that are live. */
static int switch_off(const struct options *opts, struct transition *transition,
		      const region_vec *regions, struct report *report, struct uspl_err *err)
{
	int rc = check_not_built_on(regions, opts->id, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < transition->n_regions; i++) {
		rc = region_list_add(&report->regions, transition->regions[i], err);
		if (rc)
			return rc;
	}
	return opts->live.check ? report_check(report, transition, err)
				: transition_run(transition, &report->result, err);
}

/* Another update that was left in the middle of its switch; with --check it stays so. */
static int complete_interrupted(const struct options *opts, struct proc *proc,
				const module_vec *modules, region_vec *regions,
				struct uspl_err *err)
{
	struct uspl_err note = { 0 };
	int rc = interrupted_complete(proc, modules, regions, opts->id, &opts->live, &note, err);

	if (note.msg[0])
		uspl_err_note(stderr, &note);
	return rc;
}

/*
 * The code of a library that comes and goes was unloaded, or loaded anew, since we looked for it.
 */
static bool is_worth_another(const struct transition *transition, int rc)
{
	const struct module *module;

	if (rc != -USPL_E_SYSTEM && rc != -USPL_E_OVERWRITTEN)
		return false;
	for (size_t i = 0; i < transition->n_regions; i++) {
		module = module_at(transition->modules, transition->regions[i]->module);
		if (!module || !module->lasting)
			return true;
	}
	return false;
}

/* *ret_again: it failed for a reason that may pass. */
static int undo_once(const struct options *opts, struct proc *proc, region_vec *regions,
		     struct report *report, bool *ret_again, struct uspl_err *err)
{
	auto_free struct region **list = NULL;
	module_vec modules = { 0 };
	struct transition transition = { .proc = proc,
					 .modules = &modules,
					 .direction = TRANSITION_OFF,
					 .wait_s = opts->live.wait_s,
					 .max_pause_s = opts->live.max_pause_s,
					 .scan_bytes = (uint64_t)opts->live.scan_mib << 20,
					 .stop_all = opts->live.stop };
	int rc = regions_read(proc, regions, err);

	if (rc)
		return rc;
	if (!opts->live.check)
		partial_mapping_sweep(proc);
	rc = modules_read(proc, &modules, err);
	if (rc)
		return rc;
	proc->modules = &modules;
	region_status_find_gone(proc, &modules, regions);
	if (is_known(regions, opts->id))
		rc = complete_interrupted(opts, proc, &modules, regions, err);
	if (rc) {
		proc->modules = NULL;
		modules_release(&modules);
		return rc;
	}
	list = transition.regions = live_regions(regions, opts->id, &transition.n_regions);
	if (!list)
		rc = uspl_fail_nomem(err);
	else if (!is_known(regions, opts->id))
		rc = fail_not_applied(proc->pid, err);
	else if (transition.n_regions)
		rc = switch_off(opts, &transition, regions, report, err);
	if (!rc)
		rc = forget_pending(opts, proc, regions, report, err);
	report->already = !transition.n_regions && !report->pending.n;
	/* It is undone, whether or not all can be said of it. */
	if (!rc && report_note_left_out(report, NULL) != 0)
		log_info("undo", "out of memory: what is said of pid %d isn't all", proc->pid);
	*ret_again = is_worth_another(&transition, rc);
	proc->modules = NULL;
	modules_release(&modules);
	return rc;
}

static int undo_process(const struct options *opts, struct proc *proc, int64_t deadline,
			region_vec *regions, struct report *report, struct uspl_err *err)
{
	int rc;

	for (;;) {
		bool again = false;

		rc = undo_once(opts, proc, regions, report, &again, err);
		if (!again || clock_now_ns() > deadline || cancel_requested())
			return rc;
		clock_pause_ns(TRY_NS);
		report_clear(report);
		regions_release(regions);
	}
}

/*
 * One that has ended since it was found has nothing to be undone, and nobody has named it: a
 * server's children come and go.
 */
static bool is_gone(const struct options *opts, int rc)
{
	return opts->everywhere && (rc == -USPL_E_NO_PROCESS || rc == -USPL_E_ZOMBIE);
}

/*
 * One process: undoes, prints its line or object, and returns the exit status that it stands for.
 */
static int undo_one(const struct options *opts, pid_t pid)
{
	region_vec regions = { 0 };
	auto_report struct report report = { .id = opts->id,
					     .pid = pid,
					     .direction = TRANSITION_OFF };
	struct uspl_err err = { 0 };
	auto_buf struct buf out = { 0 };
	auto_proc struct proc *proc = NULL;
	char *const *remark;
	int64_t deadline = clock_now_ns() + (int64_t)(opts->live.wait_s * 1e9);
	int failed = cancel_check(&err), rc;

	if (!failed)
		failed = proc_open_locked(pid, deadline, &proc, &err);
	if (!failed)
		failed = undo_process(opts, proc, deadline, &regions, &report, &err);
	if (is_gone(opts, failed)) {
		log_info("undo", "pid %d has ended meanwhile", pid);
		regions_release(&regions);
		return USPL_STATUS_DONE;
	}
	rc = failed ? failed : report_verdict(&report, &err);
	if (rc) {
		uspl_context(&err, "cannot undo '%s' in pid %d", opts->id, pid);
		uspl_err_print(stderr, "uspl-undo", &err);
	}
	vec_for_each (&report.remarks, remark)
		fprintf(stderr, "%s\n", *remark);
	if (opts->live.json || !cli_quiet())
		report_outcome(&report, failed ? &err : NULL, opts->live.json, &out);
	fputs(buf_str(&out), stdout);
	fflush(stdout);
	regions_release(&regions);
	return (int)uspl_code_status(rc);
}

/* A process that says of itself what root doesn't know isn't touched. */
static void leave_out(const struct proc *proc, const char *id)
{
	struct uspl_err note;

	uspl_fail(&note, USPL_E_HOSTILE,
		  "pid %d (%s, of %s) is left out: it claims to have the update '%s', but root "
		  "hasn't applied what it says; name the pid to undo it there",
		  proc->pid, proc->comm, proc_owner(proc), id);
	uspl_err_note(stderr, &note);
}

/*
 * *ret_found: the update is wanted in the process. One that we may not look at, or that has gone,
 * doesn't have it; and who has it must be believed (record/journal.h). A failure only for a signal.
 */
static int look_at(pid_t pid, const char *id, bool *ret_found, struct uspl_err *err)
{
	auto_proc struct proc *proc = NULL;
	struct uspl_err why = { 0 };
	region_vec regions = { 0 };
	const struct region *region;
	bool agrees = true;
	int rc = proc_open_scan(pid, &proc, &why);

	*ret_found = false;
	if (!rc)
		rc = regions_read(proc, &regions, &why);
	vec_for_each (&regions, region) {
		if (!region_has_id(region, id) || !region_is_wanted(region))
			continue;
		*ret_found = true;
		agrees &= journal_agrees(region, proc->uid);
	}
	if (*ret_found && !agrees) {
		leave_out(proc, id);
		*ret_found = false;
	}
	regions_release(&regions);
	if (rc == -USPL_E_HOSTILE || rc == -USPL_E_FORMAT)
		uspl_err_note(stderr, &why);
	if (rc == -USPL_E_CANCELLED && err)
		*err = why;
	return rc == -USPL_E_CANCELLED ? rc : 0;
}

static int find_everywhere(const char *id, pid_vec *pids, struct uspl_err *err)
{
	auto_closedir DIR *dir = opendir("/proc");
	struct dirent *entry;

	if (!dir)
		return uspl_fail_errno(err, "cannot open '/proc'");
	while ((entry = readdir(dir))) {
		pid_t pid = (pid_t)atol(entry->d_name), *item;
		bool found = false;
		int rc = pid > 0 ? look_at(pid, id, &found, err) : 0;

		if (rc)
			return rc;
		if (!found)
			continue;
		item = vec_push(pids);
		if (!item)
			return uspl_fail_nomem(err);
		*item = pid;
	}
	if (pids->n)
		return 0;
	uspl_fail(err, USPL_E_NOT_APPLIED,
		  "the update '%s' is not applied in any process that can be read", id);
	uspl_hint(err, "'uspl-view' lists what is applied where");
	return -USPL_E_NOT_APPLIED;
}

int cmd_undo(int argc, char **argv, struct uspl_err *err)
{
	struct options opts = { .live = LIVE_OPTIONS_DEFAULT };
	int first, rc = parse(argc, argv, &opts, &first, err), worst = USPL_STATUS_DONE;
	auto_vec pid_vec pids = { 0 };
	const pid_t *pid;

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	cancel_catch();
	opts.everywhere = argc == first;
	rc = opts.everywhere ? find_everywhere(opts.id, &pids, err)
			     : cli_pids(argv + first, argc - first, &pids, err);
	if (rc)
		return rc;
	vec_for_each (&pids, pid) {
		int status = undo_one(&opts, *pid);

		worst = status > worst ? status : worst;
	}
	if (opts.everywhere && !worst && !opts.live.check)
		journal_forget(opts.id);
	return worst;
}
