// SPDX-License-Identifier: GPL-3.0-or-later
// switch.c - all sites of a session, on or off, while everybody stands still

#include <string.h>
#include <time.h>

#include "base/cancel.h"
#include "arch/arch.h"
#include "live/region.h"
#include "live/safety.h"
#include "live/site.h"
#include "live/slot.h"
#include "live/stack.h"
#include "proc/inject.h"
#include "proc/sharers.h"
#include "proc/stop.h"
#include "tracing/internal.h"

#define STOP_LIMIT_NS 1000000000ll
#define TRY_NS 3000000000ll
#define PAUSE_NS 2000000

/* A switch while it is made. */
struct run {
	struct proc *proc;
	struct trace_session *session;
	bool on;
	struct unwinder *unwinder;
	struct site_plan plan;
	struct safety bytes;  /* that no thread may stand in: behind the first one of a site */
	struct safety text;   /* thunks, moved instructions and the runtime */
	inject_left_vec left; /* agents of tools that have died, and their code */
	struct safety agents;
	size_t in_agents; /* threads */
	struct safety_finding finding;
	struct stop stop;
	region_vec updates; /* owns names in text */
	size_t inside;
};

/* A site with a jump that isn't ours has been left to an update already, or was never ours. */
static bool is_others(const struct trace_region *region, const uint8_t *have, size_t i)
{
	const struct uspl_trace_site *site = &region->sites.items[i];
	taddr target = arch_native()->jump_target(site->entry, have, USPL_TRACE_SITE_BYTES);

	return !memcmp(have, site->old_bytes, USPL_TRACE_SITE_BYTES) ||
	       (target && target != region->head.thunks + i * USPL_TRACE_THUNK);
}

static int add_site(struct run *run, const struct trace_region *region, size_t i,
		    struct uspl_err *err)
{
	const struct uspl_trace_site *from = &region->sites.items[i];
	struct site site = { .name = region->module_name,
			     .addr = from->entry,
			     .len = USPL_TRACE_SITE_BYTES };
	uint8_t jump[SITE_BYTES_MAX], under[USPL_TRACE_SITE_BYTES], have[USPL_TRACE_SITE_BYTES];
	int rc = proc_read(run->proc, from->entry, have, sizeof(have), err);

	if (rc || (!run->on && is_others(region, have, i)))
		return rc;
	rc = slot_entry_bytes(run->proc, from, under, err);
	if (rc)
		return rc;
	part_site_jump(region, i, jump);
	memcpy(site.from, run->on ? under : jump, site.len);
	memcpy(site.to, run->on ? jump : under, site.len);
	rc = site_plan_add(&run->plan, &site, err);
	if (!rc && run->on)
		rc = safety_add(&run->bytes, region->module_name, from->entry + 1, from->guard - 1u,
				false, err);
	return rc;
}

/* False if the module was unloaded; what lies in its place now isn't ours. */
static bool is_there(const module_vec *modules, const struct trace_region *region)
{
	const struct module *module = module_at(modules, region->head.module);

	return module && module->start == region->head.module &&
	       !strcmp(module->name, region->module_name);
}

static int add_region(struct run *run, const module_vec *modules, const struct trace_region *region,
		      struct uspl_err *err)
{
	const struct uspl_trace_region *head = &region->head;
	int rc = 0;

	for (size_t i = 0; !rc && i < region->sites.n && is_there(modules, region); i++)
		rc = add_site(run, region, i, err);
	if (!rc)
		rc = safety_add(&run->text, "traced calls", head->code,
				head->thunks + head->text_len - head->code, false, err);
	return rc;
}

/*
 * An update that came while its functions were traced has gates that lead to the slots. A thread may
 * be on its way through one, although no entry leads there any more.
 */
static int add_gates(struct run *run, struct uspl_err *err)
{
	const struct region *region;
	int rc = regions_read(run->proc, &run->updates, err);

	vec_for_each (&run->updates, region)
		if (!rc && region->gates)
			rc = safety_add(&run->text, "gates", region->gates, region->gates_len,
					false, err);
	return rc;
}

/* What a dead tool has left behind the code goes with this switch, if no thread is in it. */
static int find_agents(struct run *run, const module_vec *modules, struct uspl_err *err)
{
	const struct inject_left *left;
	int rc = inject_left_find(run->proc, modules, &run->left, err);

	vec_for_each (&run->left, left)
		if (!rc)
			rc = safety_add(&run->agents, "the agent of an earlier command", left->addr,
					left->len, false, err);
	safety_seal(&run->agents);
	return rc;
}

static int prepare(struct run *run, const module_vec *modules, struct uspl_err *err)
{
	const struct trace_region *region;
	int rc = stack_unwinder_new(run->proc, modules, &run->unwinder, err);

	run->plan.proc = run->bytes.proc = run->text.proc = run->agents.proc = run->proc;
	run->bytes.unwinder = run->text.unwinder = run->agents.unwinder = run->unwinder;
	if (!rc)
		rc = find_agents(run, modules, err);
	if (!rc)
		rc = sharers_refuse(run->proc, err);
	vec_for_each (&run->session->regions, region)
		if (!rc)
			rc = add_region(run, modules, region, err);
	if (!rc)
		rc = add_gates(run, err);
	if (!rc)
		rc = site_plan_check(&run->plan, err);
	if (!rc)
		rc = site_plan_prepare(&run->plan, err);
	safety_seal(&run->bytes);
	safety_seal(&run->text);
	return rc;
}

static int write_states(struct run *run, enum uspl_trace_state state, struct uspl_err *err)
{
	struct trace_region *region;
	int rc = 0;

	vec_for_each (&run->session->regions, region)
		if (!rc)
			rc = part_write_state(run->proc, region, state, err);
	return rc;
}

static bool clear_of(struct run *run, struct safety *safety, size_t *ret_blocked)
{
	const struct thread *thread;

	*ret_blocked = 0;
	vec_for_each (&run->stop.threads, thread)
		if (thread->state == THREAD_STOPPED && !safety_check(safety, thread, &run->finding))
			++*ret_blocked;
	return !*ret_blocked;
}

/* With everybody at a standstill. Whatever fails, each site is as it was or as it is to be. */
static int switch_now(struct run *run, struct uspl_err *err)
{
	int rc = write_states(run, USPL_TRACE_SWITCHING, err);

	if (!rc)
		rc = site_plan_switch(&run->plan, err);
	if (!rc)
		rc = write_states(run, run->on ? USPL_TRACE_ON : USPL_TRACE_DRAINING, err);
	if (!rc && !run->on)
		(void)clear_of(run, &run->text, &run->inside);
	if (!rc)
		(void)clear_of(run, &run->agents, &run->in_agents);
	return rc;
}

static int attempt(struct run *run, bool *ret_blocked, struct uspl_err *err)
{
	size_t blocked;
	int rc = stop_prepare(&run->stop, run->proc, err);

	if (rc)
		return rc;
	*ret_blocked = false;
	rc = stop_enter(&run->stop, clock_now_ns() + STOP_LIMIT_NS, err);
	if (!rc) {
		*ret_blocked = run->on && !clear_of(run, &run->bytes, &blocked);
		rc = *ret_blocked ? 0 : switch_now(run, err);
	}
	stop_leave(&run->stop);
	return rc;
}

static int try_until(struct run *run, int64_t deadline, struct uspl_err *err)
{
	const struct timespec pause = { 0, PAUSE_NS };

	for (;;) {
		bool blocked;
		int rc = attempt(run, &blocked, err);

		if (rc || !blocked)
			return rc;
		if (cancel_requested())
			return uspl_fail(err, USPL_E_CANCELLED, "interrupted");
		if (clock_now_ns() >= deadline)
			return uspl_fail(err, USPL_E_BUSY,
					 "thread %d of pid %d stays within the first bytes of a "
					 "function of '%s'",
					 run->finding.tid, run->proc->pid,
					 run->finding.function ? run->finding.function : "?");
		nanosleep(&pause, NULL);
	}
}

int switch_sites(struct proc *proc, const module_vec *modules, struct trace_session *session,
		 bool on, struct trace_switch *ret, struct uspl_err *err)
{
	struct run run = { .proc = proc, .session = session, .on = on };
	int rc = prepare(&run, modules, err);

	if (!rc)
		rc = try_until(&run, clock_now_ns() + TRY_NS, err);
	if (!rc) {
		ret->sites = run.plan.sites.n;
		ret->stop_us = (double)(run.stop.left_ns - run.stop.entered_ns) / 1000;
		ret->inside = run.inside;
		if (!run.in_agents)
			inject_left_clear(proc, &run.left);
	}
	unwinder_free(run.unwinder);
	safety_release(&run.bytes);
	safety_release(&run.text);
	safety_release(&run.agents);
	vec_release(&run.left);
	regions_release(&run.updates);
	site_plan_release(&run.plan);
	return rc;
}
