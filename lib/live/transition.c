// SPDX-License-Identifier: GPL-3.0-or-later
// transition.c - when everything may switch, and the switch

#include "live/transition.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/cancel.h"
#include "base/log.h"
#include "live/backend.h"
#include "live/blockers.h"
#include "live/site.h"
#include "proc/sharers.h"
#include "live/stack.h"
#include "live/waiter.h"

/* How long a single thread may take to stop before everybody is let go again. */
#define STOP_LIMIT_NS 1000000000ll

/* A transition while it runs. */
struct run {
	const struct transition *t;
	const struct transition_backend *backend;
	struct site_plan plan;
	struct safety safety;
	struct safety_finding findings[WAITER_MAX]; /* who is in the way, by the last check */
	size_t n_findings;
	int64_t checked_ns; /* CLOCK_MONOTONIC: when that check was done */
	struct stop stop;
};

static bool interrupted(const struct region *region)
{
	return region->state == USPL_REGION_SWITCHING_ON ||
	       region->state == USPL_REGION_SWITCHING_OFF;
}

static int add_sites(struct run *run, const struct region *region, struct uspl_err *err)
{
	const struct region_site *rs;

	vec_for_each (&region->sites, rs) {
		struct site site = { .name = rs->name, .addr = rs->addr, .len = rs->len };
		bool on = run->t->direction == TRANSITION_ON;
		int rc;

		memcpy(site.from, on ? rs->old_bytes : rs->new_bytes, sizeof(site.from));
		memcpy(site.to, on ? rs->new_bytes : rs->old_bytes, sizeof(site.to));
		rc = site_plan_add(&run->plan, &site, err);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * The code that the sites' entries lead to now must be empty; for the old code that is what the
 * region says.
 */
static int add_old_code(struct run *run, const struct region *region, struct uspl_err *err)
{
	const struct region_range *range;
	const struct region_site *site;
	int rc = 0;

	vec_for_each (&region->sites, site) {
		rc = safety_add(&run->safety, site->name, site->addr, site->old_size, true, err);
		if (rc)
			return rc;
	}
	vec_for_each (&region->ranges, range) {
		rc = safety_add(&run->safety, range->name, range->addr, range->size, false, err);
		if (rc)
			return rc;
	}
	return rc;
}

/* The new code as a whole, cut at the functions' beginnings so that a finding has a name. */
static int add_new_code(struct run *run, const struct region *region, struct uspl_err *err)
{
	taddr at = region->text, end = region->text + region->text_len;
	const char *name = region->sites.n ? region->sites.items[0].name : region->id;

	while (at < end) {
		const struct region_site *site, *next = NULL;
		taddr stop;
		int rc;

		vec_for_each (&region->sites, site) {
			if (site->new_addr == at)
				name = site->name;
			if (site->new_addr > at && site->new_addr < end &&
			    (!next || site->new_addr < next->new_addr))
				next = site;
		}
		stop = next ? next->new_addr : end;
		rc = safety_add(&run->safety, name, at, stop - at, false, err);
		if (rc)
			return rc;
		at = stop;
	}
	return 0;
}

/* What a run needs to look at the threads, and at the code. */
static int prepare_look(struct run *run, struct uspl_err *err)
{
	const struct transition *t = run->t;
	int rc = 0;

	for (size_t i = 0; !rc && i < t->n_regions; i++) {
		const struct region *region = t->regions[i];

		run->plan.either |= interrupted(region);
		rc = add_sites(run, region, err);
		if (!rc && (t->direction == TRANSITION_ON || interrupted(region)))
			rc = add_old_code(run, region, err);
		if (!rc && (t->direction == TRANSITION_OFF || interrupted(region)))
			rc = add_new_code(run, region, err);
	}
	if (!rc)
		rc = sharers_refuse(t->proc, err);
	if (!rc)
		rc = site_plan_check(&run->plan, err);
	if (!rc)
		rc = stack_unwinder_new(t->proc, t->modules, &run->safety.unwinder, err);
	safety_seal(&run->safety);
	return rc;
}

/* Looks at all stacks, even after a hit: the next attempt is for when all these have left. */
static bool check(struct run *run)
{
	const struct thread *thread;

	run->n_findings = 0;
	vec_for_each (&run->stop.threads, thread)
		if (thread->state == THREAD_STOPPED && run->n_findings < WAITER_MAX &&
		    !safety_check(&run->safety, thread, &run->findings[run->n_findings]))
			run->n_findings++;
	run->checked_ns = clock_now_ns();
	return !run->n_findings;
}

static int write_states(struct run *run, enum uspl_region_state state, struct uspl_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < run->t->n_regions; i++)
		rc = region_write_state(run->t->proc, run->t->regions[i], state, err);
	return rc;
}

/*
 * With everybody at a standstill: the record says what is going on before and after the code
 * changes.
 */
static int switch_all(struct run *run, struct uspl_err *err)
{
	bool on = run->t->direction == TRANSITION_ON;
	enum uspl_region_state before = run->t->regions[0]->state;
	int rc = write_states(run, on ? USPL_REGION_SWITCHING_ON : USPL_REGION_SWITCHING_OFF, err),
	    put_back;

	if (!rc)
		rc = site_plan_switch(&run->plan, err);
	if (rc == -USPL_E_STRANDED)
		return rc;
	if (!rc) {
		rc = write_states(run, on ? USPL_REGION_APPLIED : USPL_REGION_UNDONE, err);
		if (!rc)
			return 0;
		put_back = site_plan_restore(&run->plan, err);
		if (put_back)
			return put_back;
	}
	/* The sites are as they were; the states follow. */
	put_back = write_states(run, before, NULL);
	return put_back && err && err->code != USPL_E_NO_PROCESS ? -USPL_E_STRANDED : rc;
}

/*
 * One standstill; `act`, where given, is what is done in it if the code is empty. *ret_blocked: it
 * isn't, and run->findings tell who is in it; or too much time has passed, and there are none.
 */
static int attempt(struct run *run, int (*act)(struct run *run, struct uspl_err *err),
		   bool *ret_blocked, struct uspl_err *err)
{
	double limit_s = run->t->max_pause_s;
	int64_t limit_ns = limit_s > 0 ? (int64_t)(limit_s * 1e9 / 2) : STOP_LIMIT_NS;
	int rc = run->backend->prepare(&run->stop, run->t->proc, err);
	int64_t deadline;

	if (rc)
		return rc;
	run->n_findings = 0;
	*ret_blocked = false;
	deadline = clock_now_ns() + limit_ns;
	rc = run->backend->enter(&run->stop, deadline, err);
	if (rc == -USPL_E_UNSTOPPABLE && limit_s > 0) {
		*ret_blocked = true;
		rc = 0;
	} else if (!rc) {
		*ret_blocked = !check(run) || (limit_s > 0 && clock_now_ns() > deadline);
		rc = *ret_blocked || !act ? 0 : act(run, err);
	}
	run->backend->leave(&run->stop);
	return rc;
}

static int fail_cancelled(const struct run *run, struct uspl_err *err)
{
	const struct safety_finding *finding = run->findings;

	if (!run->n_findings)
		return uspl_fail(err, USPL_E_CANCELLED, "interrupted");
	return uspl_fail(err, USPL_E_CANCELLED, "interrupted while '%s' was busy in thread %d",
			 finding->function ? finding->function : "?", finding->tid);
}

int transition_fail_pause(pid_t pid, struct uspl_err *err)
{
	uspl_fail(err, USPL_E_PAUSE,
		  "to stop the threads of pid %d and look at them takes more than half of the time "
		  "that they may stand still",
		  pid);
	uspl_hint(err, "try again when the machine is less busy, or with a longer --max-pause; "
		       "--check without it measures how long it takes");
	return -USPL_E_PAUSE;
}

static int fail_blocked(const struct run *run, struct uspl_err *err)
{
	const struct transition *t = run->t;
	blocker_vec blockers = { 0 };
	int rc;

	if (!run->n_findings)
		return transition_fail_pause(t->proc->pid, err);
	rc = blockers_describe(t->proc, t->modules, run->findings, 1, &blockers, err);
	if (!rc)
		rc = blocker_fail(t->proc->pid, blockers.items, err);
	blockers_release(&blockers);
	return rc;
}

static double stop_us(const struct run *run)
{
	return (double)(run->stop.left_ns - run->stop.entered_ns) / 1000;
}

static int try_until(struct run *run, struct waiter *waiter, int64_t deadline,
		     struct transition_result *result, struct uspl_err *err)
{
	for (;;) {
		struct waiter_stop stop = { .findings = run->findings };
		bool blocked;
		int rc = attempt(run, switch_all, &blocked, err);

		result->attempts++;
		result->stop_us = stop_us(run);
		log_info("stop", "attempt %d: %zu threads, %.0f us%s", result->attempts,
			 run->stop.n_threads, result->stop_us,
			 rc || !blocked    ? ""
			 : run->n_findings ? ", a function is busy"
					   : ", too long");
		if (rc || !blocked)
			return rc;
		if (cancel_requested())
			return fail_cancelled(run, err);
		if (clock_now_ns() >= deadline)
			return fail_blocked(run, err);
		stop.n = run->n_findings;
		stop.checked = run->checked_ns;
		stop.length = run->stop.left_ns - run->stop.entered_ns;
		waiter_wait(waiter, &stop, deadline);
	}
}

static int note_applied(const struct transition *t, struct uspl_err *err)
{
	int64_t applied_at;
	uint64_t order;
	int rc = 0;

	region_now(&applied_at, &order);
	for (size_t i = 0; !rc && i < t->n_regions; i++)
		rc = region_write_applied(t->proc, t->regions[i], applied_at, order, err);
	return rc;
}

static void run_init(struct run *run, const struct transition *t)
{
	*run = (struct run){ .t = t, .backend = &backend_full_stop };
	run->plan.proc = t->proc;
	run->safety.proc = t->proc;
}

static void run_release(struct run *run)
{
	unwinder_free(run->safety.unwinder);
	safety_release(&run->safety);
	site_plan_release(&run->plan);
}

int transition_run(const struct transition *t, struct transition_result *ret, struct uspl_err *err)
{
	struct run run;
	struct waiter waiter = { .proc = t->proc };
	struct transition_result result = { 0 };
	int64_t deadline = clock_now_ns() + (int64_t)(t->wait_s * 1e9);
	int rc;

	run_init(&run, t);
	rc = prepare_look(&run, err);
	if (!rc)
		rc = site_plan_prepare(&run.plan, err);
	/* Before the switch, so that it can still fail without harm. */
	if (!rc && t->direction == TRANSITION_ON)
		rc = note_applied(t, err);
	if (!rc)
		rc = try_until(&run, &waiter, deadline, &result, err);
	waiter_release(&waiter);
	if (!rc)
		*ret = result;
	run_release(&run);
	return rc;
}

int transition_look(const struct transition *t, struct transition_outlook *ret,
		    struct uspl_err *err)
{
	struct transition_outlook outlook = { 0 };
	struct run run;
	bool blocked;
	int rc;

	run_init(&run, t);
	rc = prepare_look(&run, err);
	if (!rc)
		rc = attempt(&run, NULL, &blocked, err);
	if (!rc) {
		outlook.n_threads = run.stop.n_threads;
		outlook.stop_us = stop_us(&run);
		outlook.more = run.n_findings == WAITER_MAX;
		outlook.too_long = blocked && !run.n_findings;
		rc = blockers_describe(t->proc, t->modules, run.findings, run.n_findings,
				       &outlook.blockers, err);
	}
	if (!rc)
		*ret = outlook;
	else
		transition_outlook_release(&outlook);
	run_release(&run);
	return rc;
}

void transition_outlook_release(struct transition_outlook *outlook)
{
	blockers_release(&outlook->blockers);
}
