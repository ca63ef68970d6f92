// SPDX-License-Identifier: GPL-3.0-or-later
// process.c - an update and one process: from finding the module to the switch

#include "apply/process.h"

#include <string.h>

#include "apply/load.h"
#include "base/log.h"
#include "objfile/demangle.h"
#include "live/overlay.h"

/* A target of the update and the module of the process that it changes. */
struct pair {
	const struct update_target *target;
	const struct module *module;
};

/* All that belongs to one process while we work on it. */
struct session {
	const struct update *update;
	struct proc *proc;
	module_vec modules;
	region_vec regions; /* what was there before */
	VEC(struct pair) pairs;
	region_vec loaded; /* of this update */
};

static bool has_build_id(const struct update_target *target, const char *build_id)
{
	char *const *id;

	vec_for_each (&target->build_ids, id)
		if (build_id && !strcmp(*id, build_id))
			return true;
	return false;
}

static bool has_name(const struct update_target *target, const struct module *module)
{
	return !strcmp(module->name, target->name) ||
	       (target->soname && module->soname && !strcmp(module->soname, target->soname));
}

static bool is_paired(const struct session *session, const struct update_target *target,
		      const struct module *module)
{
	const struct pair *pair;

	vec_for_each (&session->pairs, pair)
		if (pair->target == target || pair->module == module)
			return true;
	return false;
}

/* The module that the target is, by its build-id or by its name. */
static const struct module *find_module(const struct session *session,
					const struct update_target *target, bool by_name)
{
	const struct module *module;

	vec_for_each (&session->modules, module) {
		bool same =
			by_name ? has_name(target, module) : has_build_id(target, module->build_id);

		if (same && !is_paired(session, target, module))
			return module;
	}
	return NULL;
}

static int fail_no_module(const struct session *session, struct uspl_err *err)
{
	const struct update_target *first = session->update->targets.items;
	const struct module *module;
	const char *main_name = "?";

	vec_for_each (&session->modules, module)
		if (module->is_main)
			main_name = module->path;
	uspl_fail(err, USPL_E_NO_MODULE, "pid %d runs '%s' and maps no '%s'%s", session->proc->pid,
		  main_name, first ? first->name : "?",
		  session->update->targets.n > 1 ? " nor any other target of the update" : "");
	uspl_hint(err,
		  "'uspl-view --file=UPDATE' shows which programs and builds an update is for");
	return -USPL_E_NO_MODULE;
}

static int pair_targets(struct session *session, bool by_name, struct uspl_err *err)
{
	const struct update_target *target;

	vec_for_each (&session->update->targets, target) {
		const struct module *module = find_module(session, target, by_name);
		struct pair *pair;

		if (!module)
			continue;
		pair = vec_push(&session->pairs);
		if (!pair)
			return uspl_fail_nomem(err);
		*pair = (struct pair){ target, module };
	}
	return 0;
}

/*
 * By build-ids first, which can't be mistaken; a name, which two targets of an update may share,
 * counts for what is left over, and then the match decides.
 */
static int find_pairs(struct session *session, struct uspl_err *err)
{
	int rc = pair_targets(session, false, err);

	if (!rc)
		rc = pair_targets(session, true, err);
	if (rc)
		return rc;
	return session->pairs.n ? 0 : fail_no_module(session, err);
}

/* Adds to a refusal what is known about the builds. */
static void explain_build(const struct pair *pair, struct uspl_err *err)
{
	const char *running = pair->module->build_id ? pair->module->build_id : "none";

	if (has_build_id(pair->target, pair->module->build_id) || !err || err->hint[0])
		return;
	uspl_hint(err,
		  "'%s' is another build than the update was made for: its build-id is %s, the "
		  "update's %s%s",
		  pair->module->name, running,
		  pair->target->build_ids.n ? pair->target->build_ids.items[0] : "none",
		  pair->target->build_ids.n > 1 ? " or others" : "");
}

static int require_all(const struct match *match, const struct pair *pair, struct uspl_err *err)
{
	const struct update_function *function;
	const struct match_piece *piece;

	vec_for_each (&pair->target->functions, function) {
		int rc = match_require(match, function->symbol, &piece, err);

		if (rc) {
			explain_build(pair, err);
			return rc;
		}
	}
	if (!has_build_id(pair->target, pair->module->build_id))
		log_info("match",
			 "'%s' is another build than the update was made for, but its code is the "
			 "same",
			 pair->module->name);
	return 0;
}

/* Match, resolve and load for one module. */
static int load_pair(struct session *session, const struct pair *pair, struct uspl_err *err)
{
	struct load load = {
		.proc = session->proc,
		.modules = &session->modules,
		.module = pair->module,
		.update = session->update,
		.target = pair->target,
		.present = &session->regions,
		.n_regions = (uint32_t)session->pairs.n,
	};
	struct image *image = NULL;
	auto_match struct match *match = NULL;
	auto_resolver struct resolver *resolver = NULL;
	struct region region;
	int rc = module_image(session->proc, pair->module, &image, err);

	if (!rc)
		rc = overlay_add(image, session->proc, &session->regions, pair->module->start, err);
	if (!rc)
		rc = match_run(image, pair->target->pre_code, &match, err);
	if (!rc)
		rc = require_all(match, pair, err);
	if (!rc)
		rc = resolver_new(session->proc, &session->modules, pair->module, image, match,
				  &resolver, err);
	if (!rc) {
		load.image = image;
		load.match = match;
		load.resolver = resolver;
		rc = load_update(&load, &region, err);
	}
	if (!rc) {
		struct region *item = vec_push(&session->loaded);

		if (item)
			*item = region;
		else
			rc = uspl_fail_nomem(err);
	}
	resolver_free(take_ptr(resolver));
	match_free(take_ptr(match));
	image_free(image);
	return rc;
}

static void unload(struct session *session)
{
	struct region *region;

	vec_for_each (&session->loaded, region)
		if (load_remove(session->proc, &session->modules, region, NULL) != 0)
			log_info("load", "an unused mapping stays in pid %d", session->proc->pid);
}

static int switch_on(struct session *session, double wait_s, struct transition_result *result,
		     struct uspl_err *err)
{
	auto_free struct region **regions = calloc(session->loaded.n, sizeof(*regions));
	struct transition transition = {
		.proc = session->proc,
		.modules = &session->modules,
		.regions = regions,
		.n_regions = session->loaded.n,
		.direction = TRANSITION_ON,
		.wait_s = wait_s,
	};

	if (!regions)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < session->loaded.n; i++)
		regions[i] = &session->loaded.items[i];
	return transition_run(&transition, result, err);
}

/*
 * Moves the regions of this update that are live, or half switched on, from what was there before
 * to `loaded`.
 */
static size_t adopt_live(struct session *session)
{
	size_t kept = 0, applied = 0;

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

static int run_session(struct session *session, pid_t pid, double wait_s, struct report *report,
		       struct uspl_err *err)
{
	const struct pair *pair;
	int rc = proc_open(pid, &session->proc, err);

	if (!rc)
		rc = modules_read(session->proc, &session->modules, err);
	if (!rc)
		rc = regions_read(session->proc, &session->regions, err);
	if (rc)
		return rc;
	report->already = adopt_live(session) == session->loaded.n && session->loaded.n;
	if (report->already)
		return 0;
	/* What a tool that died left half done only needs its switch. */
	if (session->loaded.n)
		return switch_on(session, wait_s, &report->result, err);
	rc = find_pairs(session, err);
	if (!rc)
		vec_for_each (&session->pairs, pair) {
			rc = load_pair(session, pair, err);
			if (rc)
				break;
		}
	if (!rc)
		rc = switch_on(session, wait_s, &report->result, err);
	if (rc && rc != -USPL_E_STRANDED)
		unload(session);
	return rc;
}

int process_apply(const struct update *update, pid_t pid, double wait_s, region_vec *ret_regions,
		  struct report *ret_report, struct uspl_err *err)
{
	struct session session = { .update = update };
	struct report report = { .id = update->id, .pid = pid, .direction = TRANSITION_ON };
	int rc = run_session(&session, pid, wait_s, &report, err);

	if (rc && err)
		demangle_message(err->msg, sizeof(err->msg));
	if (rc) {
		regions_release(&session.loaded);
	} else {
		*ret_regions = session.loaded;
		report.regions = ret_regions;
		*ret_report = report;
	}
	vec_release(&session.pairs);
	regions_release(&session.regions);
	modules_release(&session.modules);
	proc_free(session.proc);
	return rc;
}
