// SPDX-License-Identifier: GPL-3.0-or-later
// mark_switch.c - the jumps of markers, put in and taken out
/*
 * A marker's NOP and the jump that takes its place are one instruction in one word each, and so is
 * a link: these are exchanged by a thread of the target while everybody runs (text/words.h), in any
 * order, since each leads to code that is there. Where several instructions make room for a jump, a
 * semaphore is to be counted, or the program's threads may not write code, all is switched while
 * everybody stands still.
 */

#include <string.h>
#include <time.h>

#include "arch/arch.h"
#include "base/cancel.h"
#include "base/log.h"
#include "inject/inject.h"
#include "record/region.h"
#include "safety/clear.h"
#include "safety/safety.h"
#include "safety/stack.h"
#include "text/site.h"
#include "text/words.h"
#include "thread/sharers.h"
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

/* What a dead tool has left behind the code goes with this one, if no thread is in it. */
static int find_agents(struct standstill *still, const module_vec *modules, struct uspl_err *err)
{
	const struct inject_left *left;
	int rc = agent_left_find(still->proc, modules, &still->left, err);

	vec_for_each (&still->left, left)
		if (!rc)
			rc = safety_add(&still->agents, "the agent of an earlier command",
					left->addr, left->len, false, err);
	safety_seal(&still->agents);
	return rc;
}

static int set_up(struct standstill *still, struct proc *proc, const module_vec *modules,
		  struct uspl_err *err)
{
	struct sharers sharers = { 0 };
	int rc;

	*still = (struct standstill){ .proc = proc, .modules = modules };
	rc = stack_unwinder_new(proc, modules, &still->unwinder, err);
	still->plan.proc = still->empty.proc = still->agents.proc = proc;
	still->empty.unwinder = still->agents.unwinder = still->unwinder;
	if (!rc)
		rc = sharers_await(proc, &sharers, clock_now_ns() + SHARERS_WAIT_NS, err);
	return rc ? rc : find_agents(still, modules, err);
}

static void tear_down(struct standstill *still)
{
	unwinder_free(still->unwinder);
	if (still->agents_idle)
		agent_left_clear(still->proc, &still->left);
	safety_release(&still->empty);
	safety_release(&still->agents);
	vec_release(&still->left);
	site_plan_release(&still->plan);
}

/* The first thread that is in the way. */
static bool find_inside(struct standstill *still, struct safety *empty)
{
	const struct thread *thread;

	if (!empty->ranges.n)
		return false;
	vec_for_each (&still->stop.threads, thread)
		if (thread->state == THREAD_STOPPED &&
		    !safety_check(empty, thread, &still->finding))
			return true;
	return false;
}

/* Adds to the semaphores. Others count with them too, so it is done in the standstill. */
static int add_counts(const struct standstill *still, struct uspl_err *err)
{
	const struct mark_count *count;
	int rc = 0;

	vec_for_each (still->counts, count) {
		uint16_t value;

		if (!rc)
			rc = proc_read(still->proc, count->semaphore, &value, sizeof(value), err);
		if (!rc && (value || count->add > 0)) {
			value = (uint16_t)(value + count->add);
			rc = proc_write(still->proc, count->semaphore, &value, sizeof(value), err);
		}
	}
	return rc;
}

/* Everybody stands still: looks, and switches if the bytes are empty. */
static int attempt(void *ctx, struct uspl_err *err)
{
	struct standstill *still = ctx;
	int rc = stop_prepare(&still->stop, still->proc, err);

	if (rc)
		return rc;
	rc = stop_enter(&still->stop, clock_now_ns() + STOP_LIMIT_NS, err);
	/* What a dead tool's agent has begun may come at any later time: so it comes first. */
	if (!rc) {
		still->agents_idle = !find_inside(still, &still->agents);
		still->inside = !still->agents_idle || find_inside(still, &still->empty);
	}
	if (!rc && !still->inside)
		rc = site_plan_switch(&still->plan, err);
	if (!rc && !still->inside)
		rc = add_counts(still, err);
	stop_leave(&still->stop);
	return rc;
}

/* Until nobody is in the way, or the time is over. */
static int attempts(struct standstill *still, struct uspl_err *err)
{
	const struct timespec pause = { 0, PAUSE_NS };
	int64_t deadline = clock_now_ns() + TRY_NS;

	for (;;) {
		int rc = stop_again(attempt, still, err);

		if (rc || !still->inside || clock_now_ns() >= deadline)
			return rc;
		rc = cancel_check(err);
		if (rc)
			return rc;
		nanosleep(&pause, NULL);
	}
}

static int add_change(struct standstill *still, const struct mark_change *change,
		      struct uspl_err *err)
{
	struct site site = { .name = "a marker",
			     .addr = change->addr,
			     .len = USPL_TRACE_SITE_BYTES,
			     .guard = change->guard };
	int rc;

	memcpy(site.from, change->from, site.len);
	memcpy(site.to, change->to, site.len);
	rc = site_plan_add(&still->plan, &site, err);
	if (!rc && change->guard > 1)
		rc = safety_add(&still->empty, "the bytes of a marker", change->addr + 1,
				change->guard - 1u, false, err);
	return rc;
}

/*
 * What was exchanged, if anything, is exchanged back. Code that can't be made writable now could
 * not be before.
 */
static int take_back(struct words *words, int rc, struct uspl_err *err)
{
	struct inject_word *word;
	int back;

	vec_for_each (&words->items, word) {
		uint64_t from = word->from;

		word->from = word->to;
		word->to = from;
	}
	back = words_exchange(words, 0, words->items.n, NULL);
	if (back && !(rc == -USPL_E_UNSUPPORTED && back == rc))
		return uspl_fail(err, USPL_E_STRANDED, "markers of pid %d may be half switched",
				 words->proc->pid);
	return rc;
}

/* True if all that is planned can be exchanged while everybody runs. */
static bool is_quiet(const struct standstill *still)
{
	const struct site *site;

	vec_for_each (&still->plan.sites, site) {
		const struct module *module = module_at(still->modules, site->addr);

		if (site_needs_stop(site) || !module || !module->lasting)
			return false;
	}
	return !still->counts->n && !still->left.n && arch_native()->fetches_whole();
}

/* True in *ret_done if it was. */
static int exchange(const struct standstill *still, bool *ret_done, struct uspl_err *err)
{
	struct words words = { .proc = still->proc };
	struct uspl_err why = { 0 };
	int rc = is_quiet(still) ? words_take(&words, &still->plan, err) : 0;

	if (!rc && is_quiet(still)) {
		rc = words_exchange(&words, 0, words.items.n, &why);
		*ret_done = !rc;
		log_info("mark", "%zu words are exchanged by a thread%s%s", words.items.n,
			 rc ? ", which fails: " : "", rc ? why.msg : "");
		if (rc)
			rc = take_back(&words, rc, &why);
		if (rc == -USPL_E_UNSUPPORTED)
			rc = 0;
		else if (rc && err)
			*err = why;
	}
	words_release(&words);
	return rc;
}

/* All at once. */
static int switch_still(struct standstill *still, struct uspl_err *err)
{
	int rc = attempts(still, err);

	if (!rc && still->inside)
		rc = uspl_fail(err, USPL_E_BUSY, "thread %d of pid %d stays in %s",
			       still->finding.tid, still->proc->pid,
			       still->finding.function ? still->finding.function
						       : "code that can't be told");
	return rc;
}

int mark_switch(struct proc *proc, const module_vec *modules, const mark_changes *changes,
		const mark_counts *counts, struct marks_switched *ret, struct uspl_err *err)
{
	struct standstill still;
	const struct mark_change *change;
	bool done = false;
	int rc = set_up(&still, proc, modules, err);

	still.counts = counts;
	vec_for_each (changes, change)
		if (!rc)
			rc = add_change(&still, change, err);
	if (!rc)
		rc = site_plan_check(&still.plan, err);
	if (!rc)
		rc = site_plan_prepare(&still.plan, err);
	safety_seal(&still.empty);
	if (!rc)
		rc = exchange(&still, &done, err);
	if (!rc && !done)
		rc = switch_still(&still, err);
	if (!rc && !done)
		ret->stop_us = (double)(still.stop.left_ns - still.stop.entered_ns) / 1000;
	tear_down(&still);
	return rc;
}

/*
 * The session's probes, and the gates of updates: an update that came while its function had a
 * probe has a gate that leads to the probe's end.
 */
static int add_probes(struct clear *clear, const struct marks *marks, const region_vec *updates,
		      const char *session, struct uspl_err *err)
{
	const struct mark_region *region;
	const struct region *update;
	int rc = 0;

	vec_for_each (&marks->regions, region)
		if (!rc && !strcmp(region->head.session, session))
			rc = safety_add(&clear->text, "a probe", region->head.code,
					region->head.text + region->head.text_len -
						region->head.code,
					false, err);
	vec_for_each (updates, update)
		if (!rc && update->gates)
			rc = safety_add(&clear->text, "gates", update->gates, update->gates_len,
					false, err);
	safety_seal(&clear->text);
	return rc;
}

int mark_drain(struct proc *proc, const module_vec *modules, const struct marks *marks,
	       const struct marks_request *request, struct marks_switched *ret,
	       struct uspl_err *err)
{
	const struct clear_way way = { CLEAR_SCAN_BYTES, request->force };
	const struct timespec pause = { 0, PAUSE_NS };
	int64_t deadline = clock_now_ns() + TRY_NS;
	struct unwinder *unwinder = NULL;
	struct clear clear = { .text.proc = proc, .agents.proc = proc };
	region_vec updates = { 0 };
	int rc = stack_unwinder_new(proc, modules, &unwinder, err);

	clear.text.unwinder = clear.agents.unwinder = unwinder;
	if (!rc)
		rc = regions_read(proc, &updates, err);
	if (!rc)
		rc = add_probes(&clear, marks, &updates, request->session, err);
	if (!rc)
		rc = clear_look(&clear, err);
	while (!rc && clear.in_text && clock_now_ns() < deadline && !cancel_requested()) {
		nanosleep(&pause, NULL);
		rc = clear_look(&clear, err);
	}
	if (!rc && !clear.in_text)
		rc = clear_look_parked(&clear, &way, err);
	if (!rc) {
		ret->inside = clear.in_text;
		ret->parked = clear.parked;
		ret->put_back = clear.put_back;
		ret->left_out = clear.left_out;
	}
	safety_release(&clear.text);
	regions_release(&updates);
	unwinder_free(unwinder);
	return rc;
}
