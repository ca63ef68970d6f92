// SPDX-License-Identifier: GPL-3.0-or-later
// process.c - an update and one process: from finding the module to the switch

#include "apply/process.h"

#include <string.h>

#include "apply/base.h"
#include "apply/load.h"
#include "apply/map_region.h"
#include "apply/pending.h"
#include "apply/replace.h"
#include "apply/data_states.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/demangle.h"
#include "base/log.h"
#include "command/interrupted.h"
#include "command/permit.h"
#include "machine/pairs.h"
#include "proc/memcg.h"
#include "proc/proc_lock.h"
#include "record/journal.h"
#include "record/region_status.h"
#include "record/partial_mapping.h"
#include "switch/trampolines.h"

/* Between two tries where a library comes and goes. */
#define TRY_NS 5000000

/* All that belongs to one process while we work on it. */
struct session {
	const struct update *update;
	struct live_options *opts;
	struct proc *proc;
	module_vec modules;
	region_vec regions;  /* what was there before */
	region_vec replaced; /* of that, those whose place this update takes */
	struct buf replaces; /* their ids */
	pair_vec pairs;
	module_list others; /* with a target's name, but another program */
	pending_vec noted;
	region_vec loaded; /* of this update */
	hook_log *hooks;   /* where it is noted which were called */
};

/*
 * True if threads may go over one by one. Hooks, initial values and other updates' places change
 * for all threads at once.
 */
static bool goes_by_thread(const struct session *session)
{
	const struct update *update = session->update;

	return (session->opts->by_thread || update->by_thread) && !session->opts->replace &&
	       !update_has_hooks(update) && !update_has_data(update);
}

/* Resolve and load for one module; with --check, plan what would be loaded. */
static int load_pair(struct session *session, const struct pair *pair, struct uspl_err *err)
{
	struct load load = {
		.proc = session->proc,
		.modules = &session->modules,
		.module = pair->module,
		.image = pair->image,
		.match = pair->match,
		.update = session->update,
		.target = pair->target,
		.present = &session->regions,
		.replaced = &session->replaced,
		.replaces = buf_str(&session->replaces),
		.by_thread = goes_by_thread(session),
	};
	auto_resolver struct resolver *resolver = NULL;
	struct region *item = vec_push(&session->loaded);
	int rc;

	if (!item)
		return uspl_fail_nomem(err);
	rc = resolver_new(session->proc, &session->modules, pair->module, pair->image, pair->match,
			  &resolver, err);
	load.resolver = resolver;
	if (!rc)
		rc = session->opts->check ? load_plan(&load, item, err)
					  : load_update(&load, item, err);
	if (rc == -USPL_E_UNRESOLVED)
		base_explain(session->update, pair->target, pair->module->start, &session->regions,
			     NULL, err);
	if (rc)
		session->loaded.n--;
	return rc;
}

static int load_pairs(struct session *session, struct uspl_err *err)
{
	const struct pair *pair;
	uint64_t need = 0;
	int rc;

	vec_for_each (&session->pairs, pair)
		need += pair->done ? 0 : map_region_need(session->update, pair->target);
	rc = need ? memcg_require(session->proc, need, err) : 0;
	if (rc)
		return rc;
	vec_for_each (&session->pairs, pair)
		if (!pair->done) {
			rc = load_pair(session, pair, err);
			if (rc)
				return rc;
		}
	return 0;
}

/* True for a library that the process doesn't have, and may get. */
static bool is_missing(const struct session *session, const struct update_target *target)
{
	const struct pair *pair;

	/* A library of that name that is patched, as another target, is another flavour of it. */
	vec_for_each (&session->pairs, pair)
		if (pair_has_name(target, pair->module))
			return false;
	return !pairs_have(&session->pairs, target) &&
	       pending_is_possible(target, &session->modules);
}

/* Puts the process back to where it was before this update was loaded. */
static void unload(struct session *session)
{
	struct region *region;

	pending_take_back(session->proc, &session->noted);
	vec_for_each (&session->loaded, region)
		if (load_remove(session->proc, &session->modules, region, NULL) != 0)
			log_info("load", "an unused mapping stays in pid %d", session->proc->pid);
	partial_mapping_sweep(session->proc);
}

/* Switches on what isn't yet; with --check, looks whether that could be done. */
static int switch_on(const struct session *session, struct report *report, struct uspl_err *err)
{
	auto_free struct region **regions =
		calloc(session->loaded.n + session->replaced.n + 1, sizeof(*regions));
	struct transition transition = {
		.proc = session->proc,
		.modules = &session->modules,
		.regions = regions,
		.replaced = regions ? regions + session->loaded.n : NULL,
		.direction = TRANSITION_ON,
		.wait_s = session->opts->wait_s,
		.max_pause_s = session->opts->max_pause_s,
		.scan_bytes = (uint64_t)session->opts->scan_mib << 20,
		.stop_all = session->opts->stop,
		.by_thread = session->opts->by_thread,
		.comes_back = true,
		.planned = session->opts->check,
		.hook_limit_s = session->opts->hook_limit_s,
		.hook_pause_s = session->opts->hook_pause_s,
		.hooks = session->hooks,
	};
	struct region *region;

	if (!regions)
		return uspl_fail_nomem(err);
	vec_for_each (&session->loaded, region)
		if (region->state != USPL_REGION_APPLIED)
			regions[transition.n_regions++] = region;
	vec_for_each (&session->replaced, region)
		transition.replaced[transition.n_replaced++] = region;
	if (!transition.n_regions && transition.n_replaced) {
		uspl_fail(err, USPL_E_CONFLICT,
			  "nothing of the update '%s' is to be switched on in the place of '%s'",
			  session->update->id, session->replaced.items[0].id);
		uspl_hint(err, "undo '%s' by itself", session->replaced.items[0].id);
		return -USPL_E_CONFLICT;
	}
	if (!transition.n_regions)
		return 0;
	return session->opts->check ? report_check(report, &transition, err)
				    : transition_run(&transition, &report->result, err);
}

/*
 * Moves the regions of this update that are live, or half switched on, from what was there before
 * to `loaded`.
 */
static size_t adopt_live(struct session *session)
{
	size_t kept = 0, applied = 0;

	interrupted_rest(session->proc, &session->regions, session->update->id,
			 !session->opts->check);
	for (size_t i = 0; i < session->regions.n; i++) {
		struct region *region = &session->regions.items[i], *item;

		if (region_has_id(region, session->update->id) && region_is_live(region) &&
		    (item = vec_push(&session->loaded))) {
			applied += region->state == USPL_REGION_APPLIED;
			*item = *region;
		} else {
			session->regions.items[kept++] = *region;
		}
	}
	session->regions.n = kept;
	return applied;
}

/*
 * True for this update's code for libraries that were unloaded, and its notes of those that were
 * pending and are patched now; for code of others that a tool has loaded, and died before the
 * switch.
 */
static bool is_useless(const struct session *session, const struct region *region)
{
	return region_has_id(region, session->update->id) ? region->gone || !region->module
							  : region->state == USPL_REGION_LOADED;
}

/* True if trampolines of another module may still read its selector. */
static bool is_read(const struct session *session, const struct region *region)
{
	return trampolines_go_by(session->proc, &session->modules, &session->loaded, region) ||
	       trampolines_go_by(session->proc, &session->modules, &session->regions, region);
}

static int open_session(struct session *session, pid_t pid, struct uspl_err *err)
{
	int64_t deadline = clock_now_ns() + (int64_t)(session->opts->wait_s * 1e9);
	struct uspl_err note = { 0 };
	int rc = cancel_check(err);

	if (rc)
		return rc;
	if (session->opts->by_thread && !goes_by_thread(session))
		return uspl_fail(
			err, USPL_E_UNSUPPORTED,
			"the update '%s' has %s, which all threads meet in one instant: it "
			"can't be applied thread by thread",
			session->update->id,
			update_has_hooks(session->update) ? "hooks" : "initial values that change");
	rc = proc_open_locked(pid, deadline, &session->proc, err);
	if (rc)
		return rc;
	rc = live_options_check(session->opts, session->proc, err);
	if (rc)
		return rc;
	rc = permit_process(session->opts->permit, POLICY_APPLY, session->proc, session->update->id,
			    &session->update->file.signer, &session->opts->max_pause_s, err);
	if (rc)
		return rc;
	if (!session->opts->check)
		partial_mapping_sweep(session->proc);
	rc = modules_read(session->proc, &session->modules, err);
	if (rc)
		return rc;
	session->proc->modules = &session->modules;
	rc = regions_read(session->proc, &session->regions, err);
	if (rc)
		return rc;
	region_status_find_gone(session->proc, &session->modules, &session->regions);
	/* Another update that was left in the middle of its switch; with --check it stays so. */
	rc = interrupted_complete(session->proc, &session->modules, &session->regions,
				  session->update->id, session->opts, &note, err);
	if (note.msg[0])
		uspl_err_note(stderr, &note);
	return rc;
}

static struct pairs_scope pairs_scope(const struct session *session)
{
	return (struct pairs_scope){
		.update = session->update,
		.proc = session->proc,
		.modules = &session->modules,
		.own = &session->loaded,
		.others = &session->regions,
		.replaced = &session->replaced,
	};
}

/* The pairs, matched. */
static int find_pairs(struct session *session, struct uspl_err *err)
{
	const struct pairs_scope scope = pairs_scope(session);
	const struct update_target *target, *first = session->update->targets.items;
	const struct module *program = module_main(&session->modules);
	const struct region *region;
	bool meant;
	int rc = pairs_find(&scope, &session->pairs, err);

	if (rc)
		return rc;
	meant = session->pairs.n || pairs_unnamed(&scope, &session->pairs);
	/*
	 * Where an update is half switched, it can't be told whether its code or the old code runs
	 * now, and which of them this update was made from.
	 */
	vec_for_each (&session->regions, region) {
		if (!meant || (!region_is_interrupted(region) && !region->phase) || region->gone)
			continue;
		uspl_fail(err, USPL_E_CONFLICT,
			  "the update '%s' has been left in the middle of its switch", region->id);
		uspl_hint(err, "the next command that changes the process completes that first");
		return -USPL_E_CONFLICT;
	}
	rc = pairs_match(&scope, &session->pairs, &session->others, err);
	if (rc || session->pairs.n)
		return rc;
	/* A refusal if the update has nothing to do with the process. */
	vec_for_each (&session->update->targets, target)
		if (pending_is_possible(target, &session->modules))
			return 0;
	uspl_fail(err, USPL_E_NO_MODULE, "pid %d runs '%s' and maps no '%s'%s", session->proc->pid,
		  program ? program->path : "?", first ? first->name : "?",
		  session->update->targets.n > 1 ? " nor any other target of the update" : "");
	if (session->proc->pid == 1)
		uspl_hint(err, "pid 1 is the machine's init; the first process of a container has "
			       "another pid here, which '--all' finds");
	else
		uspl_hint(err, "'uspl-view --file=UPDATE' shows which programs and builds an "
			       "update is for");
	return -USPL_E_NO_MODULE;
}

/* Everything before the switch. unload() takes back what it changes. */
static int load(struct session *session, struct uspl_err *err)
{
	const struct update_target *target;
	int rc = find_pairs(session, err);

	if (rc)
		return rc;
	rc = load_pairs(session, err);
	if (rc)
		return rc;
	vec_for_each (&session->update->targets, target) {
		if (!is_missing(session, target))
			continue;
		rc = pending_note(session->proc, &session->modules, session->update, target,
				  &session->regions, &session->noted, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* Finds the updates whose place this one takes, which the policy must allow to be undone. */
static int take_replaced(struct session *session, struct report *report, struct uspl_err *err)
{
	const char *asked = session->opts->replace;
	const struct region *region;
	int rc;

	if (!asked)
		return data_states_check(session->update, &session->regions, &session->replaced,
					 err);
	rc = replace_take(session->update, asked, &session->regions, &session->replaced,
			  &session->replaces, err);
	if (rc)
		return rc;
	rc = data_states_check(session->update, &session->regions, &session->replaced, err);
	if (rc)
		return rc;
	vec_for_each (&session->replaced, region) {
		rc = permit_process(session->opts->permit, POLICY_UNDO, session->proc, region->id,
				    NULL, &session->opts->max_pause_s, err);
		if (rc)
			return rc;
	}
	report->replaced = strdup(buf_str(&session->replaces));
	return report->replaced ? 0 : uspl_fail_nomem(err);
}

/* For --check: finds out what run_session would meet. */
static int check_session(struct session *session, struct report *report, struct uspl_err *err)
{
	size_t applied = adopt_live(session);
	const struct update_target *target;
	int rc;

	report->already = applied == session->loaded.n;
	rc = take_replaced(session, report, err);
	if (rc)
		return rc;
	rc = find_pairs(session, err);
	report->already &= pairs_done(&session->pairs);
	if (rc)
		return rc;
	rc = load_pairs(session, err);
	if (rc)
		return rc;
	vec_for_each (&session->update->targets, target)
		if (is_missing(session, target)) {
			rc = report_add_pending(report, target->name, err);
			if (rc)
				return rc;
		}
	return switch_on(session, report, err);
}

static int run_session(struct session *session, struct report *report, struct uspl_err *err)
{
	size_t applied = adopt_live(session);
	struct region *region;
	int rc;

	report->already = applied == session->loaded.n;
	/* What a dead tool left half done only needs its switch. */
	rc = switch_on(session, report, err);
	if (rc)
		return rc;
	rc = take_replaced(session, report, err);
	if (!rc)
		rc = load(session, err);
	report->already &= pairs_done(&session->pairs) && !pending_is_news(&session->noted);
	if (!rc)
		rc = switch_on(session, report, err);
	if (!rc && session->opts->replace &&
	    replace_forget_pending(session->proc, session->update, session->opts->replace,
				   &session->regions, NULL) != 0)
		log_info("apply", "a replaced update stays pending in pid %d", session->proc->pid);
	if (rc) {
		if (rc != -USPL_E_STRANDED && rc != -USPL_E_UNFINISHED)
			unload(session);
		return rc;
	}
	/* What is of no use any more is unmapped. */
	vec_for_each (&session->regions, region)
		if (is_useless(session, region) && !is_read(session, region) &&
		    load_discard(session->proc, &session->modules, region, NULL) != 0)
			log_info("load", "an unused mapping stays in pid %d", session->proc->pid);
	return 0;
}

/* What the command says: the functions that are in effect now, and what isn't. */
static int fill_report(const struct session *session, const region_vec *regions,
		       struct report *report, struct uspl_err *err)
{
	const struct module *const *other;
	const struct pending *pending;
	const struct region *region;
	const struct pair *pair;
	struct uspl_err why = { 0 };
	int rc = 0;

	vec_for_each (regions, region) {
		rc = region_list_add(&report->regions, region, err);
		if (rc)
			return rc;
	}
	rc = report_note_left_out(report, err);
	if (rc)
		return rc;
	/*
	 * The update is applied, whether or not that can be noted: if it can't, processes of others
	 * than root have to be named.
	 */
	if (!session->opts->check && session->loaded.n &&
	    journal_note(session->loaded.items, &why) != 0) {
		rc = report_add_remark(report, err, "warning",
				       "%s: 'uspl-undo %s' without a pid will leave out processes "
				       "of other users than root",
				       why.msg, session->update->id);
		if (rc)
			return rc;
	}
	vec_for_each (&session->noted, pending) {
		rc = report_add_pending(report, pending->region.module_name, err);
		if (rc)
			return rc;
	}
	vec_for_each (&session->pairs, pair) {
		rc = pair_remark(pair, session->proc->pid, report, err);
		if (rc)
			return rc;
	}
	vec_for_each (&session->others, other) {
		rc = report_add_remark(
			report, err, "warning",
			"'%s' in pid %d is another build, whose code the update doesn't "
			"fit: it is left as it is",
			(*other)->path, session->proc->pid);
		if (rc)
			return rc;
	}
	return 0;
}

/* Where code of a library that comes and goes couldn't be read or changed, another try may work. */
static bool is_worth_another(const struct session *session, int rc)
{
	const struct pair *pair;

	if (rc != -USPL_E_SYSTEM && rc != -USPL_E_OVERWRITTEN)
		return false;
	vec_for_each (&session->pairs, pair)
		if (!pair->module->lasting)
			return true;
	return false;
}

/* *ret_again: it failed for a reason that may pass. */
static int apply_once(const struct update *update, pid_t pid, const struct live_options *opts,
		      region_vec *ret_regions, struct report *ret_report, bool *ret_again,
		      struct uspl_err *err)
{
	/* The policy may ask for a shorter stop. */
	struct live_options own = *opts;
	struct session session = { .update = update, .opts = &own, .hooks = &ret_report->hooks };
	struct report report = { .id = update->id, .pid = pid, .direction = TRANSITION_ON };
	const struct pair *pair;
	int rc = open_session(&session, pid, err);

	if (!rc)
		rc = opts->check ? check_session(&session, &report, err)
				 : run_session(&session, &report, err);
	/* It is applied, whether or not all can be said of it. */
	if (!rc && fill_report(&session, &session.loaded, &report, NULL) != 0)
		log_info("apply", "out of memory: what is said of pid %d isn't all", pid);
	*ret_again = is_worth_another(&session, rc);
	vec_for_each (&session.pairs, pair)
		if (*ret_again && !pair->module->lasting &&
		    module_is_gone(session.proc, pair->module))
			uspl_hint(err,
				  "'%s' was unloaded meanwhile; while it isn't there the update is "
				  "noted as pending",
				  pair->module->name);
	if (rc && err)
		demangle_message(err->msg, sizeof(err->msg));
	if (rc) {
		regions_release(&session.loaded);
		report_clear(&report);
	} else {
		*ret_regions = session.loaded;
		report.hooks = ret_report->hooks;
		*ret_report = report;
	}
	pairs_release(&session.pairs);
	vec_release(&session.others);
	pending_release(&session.noted);
	regions_release(&session.regions);
	regions_release(&session.replaced);
	buf_release(&session.replaces);
	modules_release(&session.modules);
	proc_free(session.proc);
	return rc;
}

int process_apply(const struct update *update, pid_t pid, const struct live_options *opts,
		  region_vec *ret_regions, struct report *ret_report, struct uspl_err *err)
{
	int64_t deadline = clock_now_ns() + (int64_t)(opts->wait_s * 1e9);
	bool again;
	int rc;

	for (;;) {
		rc = apply_once(update, pid, opts, ret_regions, ret_report, &again, err);
		if (!again || clock_now_ns() >= deadline || cancel_requested())
			return rc;
		clock_pause_ns(TRY_NS);
	}
}
