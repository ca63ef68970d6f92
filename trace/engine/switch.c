// SPDX-License-Identifier: GPL-3.0-or-later
// switch.c - all sites of a session, on or off
/*
 * The state says SWITCHING from before the first site to behind the last one. A tool that dies in
 * between leaves some sites on and some off; each is sound by itself, and the next stop takes out
 * those that are there.
 */

#include "trace/engine/switch.h"

#include <string.h>
#include <time.h>

#include "base/cancel.h"
#include "base/log.h"
#include "inject/inject.h"
#include "record/probe_records.h"
#include "safety/stack.h"
#include "thread/vm_sharers.h"
#include "trace/engine/patch_module.h"
#include "trace/engine/return_fixup.h"
#include "trace/engine/trace_module.h"
#include "trace/engine/session.h"

#define AGENTS_NS 3000000000ll
#define PAUSE_NS 2000000
#define OPEN_ROUNDS 4

/* A switch while it is made. */
struct run {
	struct proc *proc;
	const module_vec *modules;
	struct trace_session *session;
	bool on;
	struct unwinder *unwinder;
	inject_left_vec left; /* agents of tools that have died, and their code */
	region_vec updates;   /* owns names in clear */
	addr_vec updated;     /* entries of functions that have updates or probes, sorted */
	struct drain drain;
};

/* What must be empty before the session's memory can go. */
static int add_text(struct run *run, struct uspl_err *err)
{
	const struct trace_region *traced;
	const struct region *region;
	int rc;

	vec_for_each (&run->session->regions, traced) {
		rc = safety_add(&run->drain.text, "traced calls", traced->head.code,
				traced->head.thunks + traced->head.text_len - traced->head.code,
				false, err);
		if (rc)
			return rc;
	}
	/*
	 * An update that came while its functions were traced has trampolines that lead to their
	 * bodies. A thread may be on its way through one, although no entry leads there any more.
	 */
	vec_for_each (&run->updates, region) {
		if (!region->trampolines)
			continue;
		rc = safety_add(&run->drain.text, "trampolines", region->trampolines,
				region->trampolines_len, false, err);
		if (rc)
			return rc;
	}
	safety_seal(&run->drain.text);
	return 0;
}

static int by_value(const void *a, const void *b)
{
	const taddr *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int list_entry(struct run *run, taddr entry, struct uspl_err *err)
{
	taddr *place = vec_push(&run->updated);

	if (!place)
		return uspl_fail_nomem(err);
	*place = entry;
	return 0;
}

static int list_updated(struct run *run, struct uspl_err *err)
{
	auto_marks struct marks marks = { 0 };
	const struct region *region;
	const struct region_site *site;
	const struct mark_region *marked;
	const struct uspl_probe *probe;
	const struct uspl_mark_switch *item;
	int rc = marks_read(run->proc, &marks, err);

	if (rc)
		return rc;
	vec_for_each (&run->updates, region)
		vec_for_each (&region->sites, site) {
			rc = list_entry(run, region_site_entry(site), err);
			if (rc)
				return rc;
		}
	vec_for_each (&marks.regions, marked) {
		vec_for_each (&marked->probes, probe) {
			rc = list_entry(run, probe->site, err);
			if (rc)
				return rc;
		}
		vec_for_each (&marked->switches, item) {
			rc = list_entry(run, item->site, err);
			if (rc)
				return rc;
		}
	}
	if (run->updated.n)
		qsort(run->updated.items, run->updated.n, sizeof(taddr), by_value);
	return 0;
}

static int prepare(struct run *run, struct uspl_err *err)
{
	struct drain *drain = &run->drain;
	struct vm_sharers vm_sharers = { 0 };
	int rc = stack_unwinder_new(run->proc, run->modules, &run->unwinder, err);

	drain->text.proc = drain->agents.proc = run->proc;
	drain->text.unwinder = drain->agents.unwinder = run->unwinder;
	if (rc)
		return rc;
	rc = vm_sharers_await(run->proc, &vm_sharers, proc_deadline(run->proc, VM_SHARERS_WAIT_NS),
			      err);
	if (rc)
		return rc;
	rc = regions_read(run->proc, &run->updates, err);
	if (rc)
		return rc;
	rc = list_updated(run, err);
	if (rc)
		return rc;
	rc = add_text(run, err);
	if (rc)
		return rc;
	rc = safety_add_left(&drain->agents, run->modules, &run->left, err);
	if (rc)
		return rc;
	safety_seal(&drain->agents);
	return 0;
}

static void release(struct run *run)
{
	safety_release(&run->drain.text);
	safety_release(&run->drain.agents);
	unwinder_free(run->unwinder);
	vec_release(&run->left);
	vec_release(&run->updated);
	regions_release(&run->updates);
}

DEFINE_AUTO_RELEASE(run, struct run, release)
#define auto_run __attribute__((cleanup(cleanup_run_)))

/*
 * A thread that a dead tool has sent to do something may do it at any later time: it would exchange
 * words after we have. So the tool waits for that thread first.
 */
static int outlive_agents(struct run *run, struct uspl_err *err)
{
	const struct timespec pause = { 0, PAUSE_NS };
	int64_t deadline = proc_deadline(run->proc, AGENTS_NS);

	while (run->left.n) {
		int rc = drain_look(&run->drain, err);

		if (rc)
			return rc;
		if (!run->drain.in_agents) {
			agent_left_clear(run->proc, &run->left);
			return 0;
		}
		rc = cancel_check(err);
		if (rc)
			return rc;
		if (clock_now_ns() >= deadline)
			return uspl_fail(
				err, USPL_E_BUSY,
				"a thread of pid %d stays in the agent of an earlier command",
				run->proc->pid);
		nanosleep(&pause, NULL);
	}
	return 0;
}

static int write_states(struct run *run, enum uspl_trace_state state, struct uspl_err *err)
{
	struct trace_region *region;
	int rc = 0;

	vec_for_each (&run->session->regions, region) {
		rc = trace_module_write_state(run->proc, region, state, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* In a library that was unloaded meanwhile there is nothing to exchange. */
static int exchange_region(const struct run *run, struct patch_input *input,
			   const struct trace_region *region, struct patch_result *result,
			   struct uspl_err *err)
{
	const struct module *module = module_at(run->modules, region->head.module);
	struct uspl_err why = { 0 };
	int rc;

	/* It was unloaded; what lies in its place now isn't ours. */
	if (!module || module->start != region->head.module ||
	    strcmp(module->name, region->module_name) != 0)
		return 0;
	input->stopped = !module->lasting;
	rc = patch_module_exchange(input, region, result, &why);
	if (rc && rc != -USPL_E_STRANDED && module_explains(run->proc, module, rc)) {
		log_info("trace", "'%s' is left out, since it was unloaded: %s",
			 region->module_name, why.msg);
		return 0;
	}
	if (rc && err)
		*err = why;
	return rc;
}

static int exchange_all(struct run *run, struct patch_result *result, struct uspl_err *err)
{
	struct patch_input input = { .proc = run->proc,
				     .on = run->on,
				     .unwinder = run->unwinder,
				     .updates = &run->updates,
				     .updated = &run->updated };
	const struct trace_region *region;
	int rc = write_states(run, USPL_TRACE_SWITCHING, err);

	if (rc)
		return rc;
	vec_for_each (&run->session->regions, region) {
		rc = exchange_region(run, &input, region, result, err);
		if (rc)
			return rc;
	}
	return write_states(run, run->on ? USPL_TRACE_ON : USPL_TRACE_DRAINING, err);
}

/*
 * A thread that is on its way through the runtime is out of it a moment later; a thread that can't
 * be stopped stays.
 */
static int fix_up_returns(struct run *run, const unwinder_code_vec *unwinders, struct uspl_err *err)
{
	const struct timespec pause = { 0, PAUSE_NS };
	struct uspl_err why = { 0 };
	size_t ended = 0;
	int rc = 0;

	for (int i = 0; run->drain.in_text && i < OPEN_ROUNDS && (ended || i < 2); i++) {
		if (i)
			nanosleep(&pause, NULL);
		if (return_fixup_run(&run->drain, unwinders, run->session, &ended, &why)) {
			log_info("trace", "open calls: %s", why.msg);
			break;
		}
		rc = drain_look(&run->drain, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* All sites are off: a thread that is still inside needn't be for long. */
static int empty_threads(struct run *run, struct uspl_err *err)
{
	auto_vec unwinder_code_vec unwinders = { 0 };
	struct uspl_err why = { 0 };
	auto_vec tid_vec inside = { 0 };
	int rc;

	run->drain.inside = &inside;
	rc = drain_look(&run->drain, err);
	if (rc)
		goto out;
	if (run->drain.in_text && unwinders_find(run->proc, run->modules, &unwinders, &why) != 0)
		log_info("trace", "open calls: %s", why.msg);
	else
		rc = fix_up_returns(run, &unwinders, err);

out:
	run->drain.inside = NULL;
	return rc;
}

/* A thread may have gone on with a stack that no thread was on when they were looked at. */
static int empty_text(struct run *run, const struct drain_way *way, struct uspl_err *err)
{
	struct drain *drain = &run->drain;
	int rc = 0;

	for (int i = 0; i < OPEN_ROUNDS; i++) {
		rc = empty_threads(run, err);
		if (rc || drain->in_text)
			return rc;
		rc = drain_look_inactive(drain, way, err);
		if (!drain->in_text || drain->inactive)
			return rc;
		if (rc)
			return rc;
	}
	return 0;
}

int switch_sites(struct proc *proc, const module_vec *modules, struct trace_session *session,
		 const struct switch_way *way, struct trace_switch *ret, struct uspl_err *err)
{
	bool on = way->on;
	auto_run struct run run = {
		.proc = proc, .modules = modules, .session = session, .on = on
	};
	struct patch_result result = { 0 };
	int rc = prepare(&run, err);

	if (rc)
		return rc;
	rc = outlive_agents(&run, err);
	if (rc)
		return rc;
	rc = exchange_all(&run, &result, err);
	if (rc)
		return rc;
	if (!on) {
		rc = empty_text(&run, &way->drain, err);
		if (rc)
			return rc;
	}
	ret->inactive = run.drain.inactive;
	ret->put_back = run.drain.put_back;
	ret->left_out = run.drain.left_out;
	ret->sites = result.sites;
	ret->stop_us = result.stop_us;
	ret->switch_us = result.switch_us;
	ret->inside = on ? 0 : run.drain.in_text;
	if (!on && run.drain.stop_us > ret->stop_us)
		ret->stop_us = run.drain.stop_us;
	return 0;
}
