// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_undo.c - take an update back

#include <string.h>

#include "base/cancel.h"
#include "base/cli.h"
#include "base/clock.h"
#include "base/log.h"
#include "command/commands.h"
#include "command/interrupted.h"
#include "command/live_options.h"
#include "command/permit.h"
#include "command/report.h"
#include "inject/inject.h"
#include "machine/fleet.h"
#include "proc/proc_lock.h"
#include "record/journal.h"
#include "record/region_status.h"
#include "record/partial_mapping.h"
#include "text/give_back.h"
#include "update/update.h"

/* Between two tries where a library comes and goes. */
#define TRY_NS 5000000

struct options {
	struct live_options live;
	struct selection sel;
	char *id;
};

static int parse(int argc, char **argv, struct options *opts, struct uspl_err *err)
{
	const struct cli_option table[] = {
		SELECTION_ALL(&opts->sel),
		SELECTION_OPTIONS(&opts->sel),
		LIVE_OPTIONS(&opts->live),
	};
	const struct cli_command cmd = {
		.name = "uspl-undo",
		.synopsis = "[OPTION]... ID|UPDATE [PID]...",
		.summary = "Takes an update back, in the given processes or in all that have it",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	int first, rc = cli_parse(&cmd, argc, argv, &first, err);

	if (rc)
		return rc;
	rc = live_options_agree(&opts->live, err);
	if (rc)
		return rc;
	if (argc == first) {
		uspl_fail(err, USPL_E_USAGE, "no update id given");
		uspl_hint(err, "'uspl-view' lists the updates that are applied");
		return -USPL_E_USAGE;
	}
	rc = update_named(argv[first++], &opts->id, err);
	if (rc)
		return rc;
	rc = selection_read(&opts->sel, argv + first, argc - first, err);
	if (rc)
		return rc;
	opts->sel.all |= selection_is_empty(&opts->sel);
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
	uspl_hint(err, "%s'uspl-view' lists what is applied where",
		  pid == 1 ? "pid 1 is the machine's init; " : "");
	return -USPL_E_NOT_APPLIED;
}

/* Takes back the marks of libraries that aren't there: wanted, not in effect. Adds their names. */
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

/*
 * Pages of code that are again what the files have go back to them. What fails stays as it is. The
 * update may be undone already: a tool that has died may have left its agent, and the pages.
 */
static void give_back(const struct options *opts, struct proc *proc, const module_vec *modules,
		      const region_vec *regions)
{
	const struct region *region;

	if (proc_refresh_maps(proc, NULL) || inject_require_alone(proc, modules, NULL))
		return;
	vec_for_each (regions, region) {
		const struct module *module =
			region_has_id(region, opts->id) ? module_at(modules, region->module) : NULL;

		if (module)
			give_back_code(proc, module);
	}
}

/* The transition of the regions that are live. */
static int switch_off(const struct options *opts, struct transition *transition,
		      const region_vec *regions, struct report *report, struct uspl_err *err)
{
	const struct region *region;
	int rc;

	/* A newer update that uses this one's code or data has to go first. */
	vec_for_each (regions, region) {
		if (!region_is_live(region) || !region_builds_on(region, opts->id))
			continue;
		uspl_fail(err, USPL_E_CONFLICT, "the update '%s' builds on it", region->id);
		uspl_hint(err, "undo '%s' first", region->id);
		return -USPL_E_CONFLICT;
	}
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
					 .stop_all = opts->live.stop,
					 .by_thread = opts->live.by_thread,
					 .comes_back = true,
					 .hook_limit_s = opts->live.hook_limit_s,
					 .hook_pause_s = opts->live.hook_pause_s,
					 .hooks = &report->hooks };
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
	if (!rc && !opts->live.check)
		give_back(opts, proc, &modules, regions);
	report->already = !transition.n_regions && !report->pending.n;
	/* The update is undone, whether or not all can be said of it. */
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
 * Opens the process, which is still the one that was found, and in which the policy allows the
 * undo; *ret_max_pause_s becomes less if the policy asks for that.
 */
static int open_process(const struct options *opts, const struct crew_member *member,
			int64_t deadline, struct proc **ret, double *ret_max_pause_s,
			struct uspl_err *err)
{
	const struct live_options live = { .starttime = member->process.starttime };
	auto_proc struct proc *proc = NULL;
	int rc = cancel_check(err);

	if (rc)
		return rc;
	rc = proc_open_locked(member->process.pid, deadline, &proc, err);
	if (rc)
		return rc;
	rc = live_options_check(&live, proc, err);
	if (rc)
		return rc;
	rc = permit_process(opts->live.permit, POLICY_UNDO, proc, opts->id, NULL, ret_max_pause_s,
			    err);
	if (rc)
		return rc;
	*ret = take_ptr(proc);
	return 0;
}

/* Leaves a note of it in the machine's log; what changes nothing has none. */
static void note(const struct options *opts, const struct report *report, int rc,
		 const struct uspl_err *why)
{
	const struct region *region = report->regions.n ? report->regions.items[0] : NULL;
	const struct audit_event event = {
		.command = "undo",
		.pid = report->pid,
		.build_id = region ? region->build_id : NULL,
		.update = opts->id,
		.digest = region ? region->digest : NULL,
		.signer = region ? region->signer : NULL,
		.stop_us = report->result.stop_us,
	};
	struct uspl_err err = { 0 };

	if (opts->live.check || (!rc && report->already))
		return;
	if (permit_note(opts->live.permit, event, rc, why, &err) != 0)
		uspl_err_note(stderr, &err);
}

/*
 * One process: undoes, prints its line or object, and returns the exit status that it stands for.
 */
static int undo_one(const struct crew_member *member, const void *ctx)
{
	struct options own = *(const struct options *)ctx, *opts = &own;
	pid_t pid = member->process.pid;
	region_vec regions = { 0 };
	auto_report struct report report = { .id = opts->id,
					     .pid = pid,
					     .direction = TRANSITION_OFF,
					     .one_of_many = selection_is_many(&opts->sel) };
	struct uspl_err err = { 0 };
	auto_buf struct buf out = { 0 };
	auto_proc struct proc *proc = NULL;
	char *const *remark;
	int64_t deadline = clock_now_ns() + (int64_t)(opts->live.wait_s * 1e9);
	int rc, failed = open_process(opts, member, deadline, &proc, &opts->live.max_pause_s, &err);

	if (!failed)
		failed = undo_process(opts, proc, deadline, &regions, &report, &err);
	/*
	 * A process that has ended since it was found, and wasn't named, has nothing to be undone:
	 * a server's children come and go.
	 */
	if (!member->named && (failed == -USPL_E_NO_PROCESS || failed == -USPL_E_ZOMBIE)) {
		log_info("undo", "pid %d has ended meanwhile", pid);
		regions_release(&regions);
		return USPL_STATUS_DONE;
	}
	rc = failed ? failed : report_verdict(&report, &err);
	if (rc) {
		uspl_context(&err, "cannot undo '%s' in pid %d", opts->id, pid);
		uspl_err_print(stderr, "uspl-undo", &err);
	}
	if (report_note_hooks(&report, NULL) != 0)
		log_info("undo", "out of memory: what is said of pid %d isn't all", pid);
	vec_for_each (&report.remarks, remark)
		fprintf(stderr, "%s\n", *remark);
	if (opts->live.json || !cli_quiet())
		report_outcome(&report, failed ? &err : NULL, opts->live.json, &out);
	fputs(buf_str(&out), stdout);
	fflush(stdout);
	note(opts, &report, rc, &err);
	regions_release(&regions);
	return (int)uspl_code_status(rc);
}

/* The process has the update, and must be believed (record/journal.h). */
static int look_at(struct proc *proc, const void *ctx, enum search_answer *ret,
		   struct uspl_err *err)
{
	const struct options *opts = ctx;
	auto_regions region_vec regions = { 0 };
	const struct region *region;
	struct uspl_err note;
	bool found = false, agrees = true;
	int rc = regions_read(proc, &regions, err);

	if (rc)
		return rc;
	vec_for_each (&regions, region) {
		if (!region_has_id(region, opts->id) || !region_is_wanted(region))
			continue;
		found = true;
		agrees &= journal_agrees(region, proc->uid);
	}
	/* A process that says of itself what root doesn't know isn't touched. */
	if (found && !agrees) {
		uspl_fail(&note, USPL_E_HOSTILE,
			  "pid %d (%s, of %s) is left out: it claims to have the update '%s', but "
			  "root hasn't applied what it says; name the pid to undo it there",
			  proc->pid, proc->comm, proc_owner(proc), opts->id);
		uspl_err_note(stderr, &note);
	}
	*ret = !found ? SEARCH_OTHER : agrees ? SEARCH_OPEN : SEARCH_LEFT_OUT;
	return 0;
}

/* The work on a process, or on none in particular, wasn't done. */
static void tell_failure(const struct crew_member *member, const struct uspl_err *why,
			 const void *ctx)
{
	const struct options *opts = ctx;
	const struct report report = { .id = opts->id,
				       .pid = member->process.pid,
				       .direction = TRANSITION_OFF,
				       .one_of_many = true };
	struct uspl_err err = *why;
	auto_buf struct buf out = { 0 };

	if (report.pid) {
		report_outcome(&report, &err, opts->live.json, &out);
		fputs(buf_str(&out), stdout);
		uspl_context(&err, "cannot undo '%s' in pid %d", opts->id, report.pid);
	}
	uspl_err_print(stderr, "uspl-undo", &err);
}

static int run(struct options *opts, struct uspl_err *err)
{
	auto_permit struct permit permit = { 0 };
	const struct selection *sel = &opts->sel;
	const struct fleet fleet = {
		.sel = sel,
		.work = { undo_one, tell_failure, opts },
		.look = look_at,
		.todo = "have the update",
		.what = "has the update",
		.none = USPL_E_NOT_APPLIED,
		.once = opts->live.check,
	};
	bool everywhere = sel->all && !selection_narrows(sel);
	char meant[USPL_ID_MAX];
	int rc = permit_begin(&permit, err);

	if (rc)
		return rc;
	opts->live.permit = &permit;
	cancel_catch();
	rc = fleet_run(&fleet, err);
	if (everywhere && rc == -USPL_E_NOT_APPLIED) {
		uspl_fail(err, USPL_E_NOT_APPLIED,
			  "the update '%s' is not applied in any process that can be read",
			  opts->id);
		if (journal_nearest(opts->id, meant))
			uspl_hint(err, "did you mean '%s'?", meant);
		else
			uspl_hint(err, "'uspl-view' lists what is applied where");
	}
	if (everywhere && !rc && !opts->live.check)
		journal_forget(opts->id);
	return rc;
}

int cmd_undo(int argc, char **argv, struct uspl_err *err)
{
	struct options opts = { .live = LIVE_OPTIONS_DEFAULT };
	int rc = parse(argc, argv, &opts, err);

	if (rc == CLI_STOP)
		rc = USPL_STATUS_DONE;
	else if (!rc)
		rc = run(&opts, err);
	selection_release(&opts.sel);
	free(opts.id);
	return rc;
}
