// SPDX-License-Identifier: GPL-3.0-or-later
// mark_switch.c - the jumps of markers, put in and taken out
/*
 * A marker's NOP and the jump that takes its place are one instruction in one word each, and so is
 * a link: these are exchanged by a thread of the target while all threads run (text/text_poke.h),
 * in any order, since each leads to code that is there. Where several instructions make room for a
 * jump, a semaphore is to be counted, or the program's threads may not write code, all is switched
 * while all threads stand still.
 */

#include <string.h>
#include <time.h>

#include "arch/arch.h"
#include "base/cancel.h"
#include "base/log.h"
#include "inject/inject.h"
#include "record/region.h"
#include "safety/drain.h"
#include "safety/safety.h"
#include "safety/stack.h"
#include "text/site.h"
#include "text/text_poke.h"
#include "thread/vm_sharers.h"
#include "thread/stop.h"
#include "trace/probe/marks_internal.h"

#define TRY_NS 3000000000ll
#define PAUSE_NS 2000000

/* A standstill, with what must be empty in it. */
struct standstill {
	const module_vec *modules;
	struct proc *proc;
	struct unwinder *unwinder;
	struct safety empty;
	inject_left_vec left; /* agents of tools that have died */
	struct safety agents;
	bool agents_idle; /* no thread was in one of them */
	struct stop stop;
	struct site_plan plan;
	const mark_counts *counts;
	bool inside;
	struct safety_finding finding;
};

static int set_up(struct standstill *standstill, struct proc *proc, const module_vec *modules,
		  struct uspl_err *err)
{
	struct vm_sharers vm_sharers = { 0 };
	int rc;

	*standstill = (struct standstill){ .proc = proc, .modules = modules };
	rc = stack_unwinder_new(proc, modules, &standstill->unwinder, err);
	standstill->plan.proc = standstill->empty.proc = standstill->agents.proc = proc;
	standstill->empty.unwinder = standstill->agents.unwinder = standstill->unwinder;
	if (rc)
		return rc;
	rc = vm_sharers_await(proc, &vm_sharers, proc_deadline(proc, VM_SHARERS_WAIT_NS), err);
	if (rc)
		return rc;
	/* What they have left is cleared with this switch, if no thread is in it. */
	rc = safety_add_left(&standstill->agents, modules, &standstill->left, err);
	if (rc)
		return rc;
	safety_seal(&standstill->agents);
	return 0;
}

/* The first thread that is in the way. */
static bool find_inside(struct standstill *standstill, struct safety *empty)
{
	const struct thread *thread;

	if (!empty->ranges.n)
		return false;
	vec_for_each (&standstill->stop.threads, thread)
		if (thread->state == THREAD_STOPPED &&
		    !safety_check(empty, thread, &standstill->finding))
			return true;
	return false;
}

/* Adds to the semaphores. Others count with them too, so it is done in the standstill. */
static int add_counts(const struct standstill *standstill, struct uspl_err *err)
{
	const struct mark_count *count;
	int rc;

	vec_for_each (standstill->counts, count) {
		uint16_t value;

		rc = proc_read(standstill->proc, count->semaphore, &value, sizeof(value), err);
		if (rc)
			return rc;
		if (!value && count->add <= 0)
			continue;
		value = (uint16_t)(value + count->add);
		rc = proc_write(standstill->proc, count->semaphore, &value, sizeof(value), err);
		if (rc)
			return rc;
	}
	return 0;
}

/* While all threads stand still: looks, and switches if no thread is in the bytes. */
static int attempt(void *ctx, struct uspl_err *err)
{
	struct standstill *standstill = ctx;
	int rc = stop_prepare(&standstill->stop, standstill->proc, err);

	if (rc)
		return rc;
	rc = stop_enter(&standstill->stop, clock_now_ns() + STOP_LIMIT_NS, err);
	if (rc)
		goto leave;
	/* What a dead tool's agent has begun may come at any later time: so it comes first. */
	standstill->agents_idle = !find_inside(standstill, &standstill->agents);
	standstill->inside =
		!standstill->agents_idle || find_inside(standstill, &standstill->empty);
	if (standstill->inside)
		goto leave;
	rc = site_plan_switch(&standstill->plan, err);
	if (rc)
		goto leave;
	rc = add_counts(standstill, err);

leave:
	stop_leave(&standstill->stop);
	return rc;
}

static int add_change(struct standstill *standstill, const struct mark_change *change,
		      struct uspl_err *err)
{
	struct site site = { .name = "a marker",
			     .addr = change->addr,
			     .len = USPL_TRACE_SITE_BYTES,
			     .guard = change->guard };
	int rc;

	memcpy(site.from, change->from, site.len);
	memcpy(site.to, change->to, site.len);
	rc = site_plan_add(&standstill->plan, &site, err);
	if (rc)
		return rc;
	if (change->guard > 1)
		return safety_add(&standstill->empty, "the bytes of a marker", change->addr + 1,
				  change->guard - 1u, false, err);
	return 0;
}

/*
 * What was exchanged, if anything, is exchanged back. Code that can't be made writable now could
 * not be before.
 */
static int take_back(struct text_poke *poke, int rc, struct uspl_err *err)
{
	struct inject_word *word;
	int back;

	vec_for_each (&poke->items, word) {
		uint64_t from = word->from;

		word->from = word->to;
		word->to = from;
	}
	back = text_poke_exchange(poke, 0, poke->items.n, NULL);
	if (back && !(rc == -USPL_E_UNSUPPORTED && back == rc))
		return uspl_fail(err, USPL_E_STRANDED, "markers of pid %d may be half switched",
				 poke->proc->pid);
	return rc;
}

/* True if all that is planned can be exchanged while all threads run. */
static bool needs_no_stop(const struct standstill *standstill)
{
	const struct site *site;

	vec_for_each (&standstill->plan.sites, site) {
		const struct module *module = module_at(standstill->modules, site->addr);

		if (site_needs_stop(site) || !module || !module->lasting)
			return false;
	}
	return !standstill->counts->n && !standstill->left.n && arch_native()->fetches_whole();
}

/* Exchanges what is planned if no stop is needed; *ret_done: true if that was done. */
static int exchange(const struct standstill *standstill, bool *ret_done, struct uspl_err *err)
{
	struct text_poke poke = { .proc = standstill->proc };
	struct uspl_err why = { 0 };
	int rc;

	if (!needs_no_stop(standstill))
		return 0;
	rc = text_poke_take(&poke, &standstill->plan, err);
	if (rc)
		goto release;
	rc = text_poke_exchange(&poke, 0, poke.items.n, &why);
	*ret_done = !rc;
	log_info("mark", "%zu words are exchanged by a thread%s%s", poke.items.n,
		 rc ? ", which fails: " : "", rc ? why.msg : "");
	if (rc)
		rc = take_back(&poke, rc, &why);
	if (rc == -USPL_E_UNSUPPORTED)
		rc = 0;
	else if (rc && err)
		*err = why;

release:
	text_poke_release(&poke);
	return rc;
}

/* All at once, when no thread is in the way. */
static int switch_stopped(struct standstill *standstill, struct uspl_err *err)
{
	const struct timespec pause = { 0, PAUSE_NS };
	int64_t deadline = proc_deadline(standstill->proc, TRY_NS);

	for (;;) {
		int rc = stop_again(standstill->proc, attempt, standstill, err);

		if (rc || !standstill->inside)
			return rc;
		if (clock_now_ns() >= deadline)
			break;
		rc = cancel_check(err);
		if (rc)
			return rc;
		nanosleep(&pause, NULL);
	}
	return uspl_fail(err, USPL_E_BUSY, "thread %d of pid %d stays in %s",
			 standstill->finding.tid, standstill->proc->pid,
			 standstill->finding.function ? standstill->finding.function
						      : "code that can't be told");
}

int mark_switch(struct proc *proc, const module_vec *modules, const mark_changes *changes,
		const mark_counts *counts, struct marks_switched *ret, struct uspl_err *err)
{
	struct standstill standstill;
	const struct mark_change *change;
	bool done = false;
	int rc = set_up(&standstill, proc, modules, err);

	standstill.counts = counts;
	if (rc)
		goto out;
	vec_for_each (changes, change) {
		rc = add_change(&standstill, change, err);
		if (rc)
			goto out;
	}
	rc = site_plan_check(&standstill.plan, err);
	if (rc)
		goto out;
	rc = site_plan_prepare(&standstill.plan, err);
	if (rc)
		goto out;
	safety_seal(&standstill.empty);
	rc = exchange(&standstill, &done, err);
	if (rc || done)
		goto out;
	rc = switch_stopped(&standstill, err);
	if (rc)
		goto out;
	ret->stop_us = (double)(standstill.stop.left_ns - standstill.stop.entered_ns) / 1000;

out:
	unwinder_free(standstill.unwinder);
	if (standstill.agents_idle)
		agent_left_clear(standstill.proc, &standstill.left);
	safety_release(&standstill.empty);
	safety_release(&standstill.agents);
	vec_release(&standstill.left);
	site_plan_release(&standstill.plan);
	return rc;
}

/*
 * The session's probes, and the trampolines of updates: an update that came while its function had
 * a probe has a trampoline that leads to the probe's end.
 */
static int add_probes(struct drain *drain, const struct marks *marks, const region_vec *updates,
		      const char *session, struct uspl_err *err)
{
	const struct mark_region *region;
	const struct region *update;
	int rc;

	vec_for_each (&marks->regions, region) {
		if (strcmp(region->head.session, session))
			continue;
		rc = safety_add(&drain->text, "a probe", region->head.code,
				region->head.text + region->head.text_len - region->head.code,
				false, err);
		if (rc)
			return rc;
	}
	vec_for_each (updates, update) {
		if (!update->trampolines)
			continue;
		rc = safety_add(&drain->text, "trampolines", update->trampolines,
				update->trampolines_len, false, err);
		if (rc)
			return rc;
	}
	safety_seal(&drain->text);
	return 0;
}

int mark_drain(struct proc *proc, const module_vec *modules, const struct marks *marks,
	       const struct marks_request *request, struct marks_switched *ret,
	       struct uspl_err *err)
{
	const struct drain_way way = { DRAIN_SCAN_BYTES, request->force };
	const struct timespec pause = { 0, PAUSE_NS };
	int64_t deadline = clock_now_ns() + TRY_NS;
	auto_unwinder struct unwinder *unwinder = NULL;
	struct drain drain = { .text.proc = proc, .agents.proc = proc };
	auto_regions region_vec updates = { 0 };
	int rc = stack_unwinder_new(proc, modules, &unwinder, err);

	drain.text.unwinder = drain.agents.unwinder = unwinder;
	if (rc)
		return rc;
	rc = regions_read(proc, &updates, err);
	if (rc)
		return rc;
	rc = add_probes(&drain, marks, &updates, request->session, err);
	if (rc)
		goto release;
	rc = drain_look(&drain, err);
	if (rc)
		goto release;
	while (drain.in_text && clock_now_ns() < deadline && !cancel_requested()) {
		nanosleep(&pause, NULL);
		rc = drain_look(&drain, err);
		if (rc)
			goto release;
	}
	if (!drain.in_text) {
		rc = drain_look_inactive(&drain, &way, err);
		if (rc)
			goto release;
	}
	ret->inside = drain.in_text;
	ret->inactive = drain.inactive;
	ret->put_back = drain.put_back;
	ret->left_out = drain.left_out;

release:
	safety_release(&drain.text);
	return rc;
}
