// SPDX-License-Identifier: GPL-3.0-or-later
// patch_stopped.c - sites that are exchanged in stops, as many at a time as no thread has to wait
// long for
/*
 * Threads that run are stopped for each portion, and look at nothing but their own place. Threads
 * that sleep are looked at once, before the first portion, and can't come back to the program's
 * code unseen (held_sleepers.h): so they sleep on, and need no other look.
 *
 * What is done for the first time is slow, above all following a stack: so those of threads that
 * run are followed once before.
 *
 * The tool writes from outside, not by an agent within: if it were killed, the kernel would finish
 * the page, and only then let the threads go. An agent would go on by itself, among threads that
 * run again.
 */

#include "trace/engine/patch_stopped.h"

#include <time.h>

#include "base/cancel.h"
#include "base/log.h"
#include "proc/private_pages.h"
#include "thread/held_sleepers.h"
#include "trace/engine/patch_module.h"

/* How long threads that run may be looked at before the first stop. */
#define REHEARSAL_NS 4000000ll
/* Where many threads want the same processor, one may stay where it is for a while. */
#define TRY_NS 30000000000ll
#define PAUSE_NS 2000000
/* A portion is tried this often, with that pause between, before our signals are heard again. */
#define TRIES 20
/* After this long they are heard in any case, though sleepers are then woken once more. */
#define HELD_SLEEPERS_NS 1000000000ll
/*
 * Pages that are written in one stop, some 1.3 us each; what a stop takes besides is about as long.
 * The first one warms the unwind cache: much is slow when it is done for the first time. Where
 * processors are scarce a stop takes milliseconds, until every thread has had the turn in which to
 * stop: then fewer stops are better, and they are hardly longer for it.
 */
#define PAGES_FIRST 4
#define PAGES_LEAST 24
#define PAGES_MOST 40
#define NS_A_PAGE 10000
/*
 * Between two stops the threads run for as long as they were stopped, but for no longer than this.
 */
#define REST_MAX_NS 200000

struct run {
	struct patch_stopped *patch;
	size_t done;           /* so many of its sites are exchanged, */
	size_t n;              /* and so many more are planned for the next stop, */
	size_t pages;          /* on so many pages at most */
	struct site_plan plan; /* of these */
	struct safety_finding finding;
	double stop_us;
};

int patch_stopped_init(struct patch_stopped *patch, const struct patch_input *in,
		       const site_vec *sites, struct uspl_err *err)
{
	const struct site *site;
	int rc;

	*patch = (struct patch_stopped){ .in = in,
					 .sites = sites,
					 .bytes = { .proc = in->proc, .unwinder = in->unwinder } };
	vec_for_each (sites, site) {
		if (site->guard <= 1)
			continue;
		rc = safety_add(&patch->bytes, site->name, site->addr + 1, site->guard - 1u, false,
				err);
		if (rc)
			return rc;
	}
	safety_seal(&patch->bytes);
	return 0;
}

void patch_stopped_release(struct patch_stopped *patch)
{
	safety_release(&patch->bytes);
}

/* Threads that sleep are followed when they are held. */
void patch_stopped_warm(struct patch_stopped *patch, struct patch_result *result)
{
	const struct proc *proc = patch->in->proc;
	int64_t until = clock_now_ns() + REHEARSAL_NS;
	struct sampler sampler;
	auto_vec tid_vec tids = { 0 };
	const pid_t *tid;

	if (result->warm || !patch->bytes.ranges.n)
		return;
	result->warm = true;
	if (tasks_list(proc, &tids, NULL) == 0)
		vec_for_each (&tids, tid) {
			if (clock_now_ns() >= until)
				break;
			if (task_sleeps(proc, *tid) || !sampler_open(&sampler, *tid))
				continue;
			safety_warm_unwinder(&patch->bytes, &sampler);
			sampler_close(&sampler);
		}
}

/* Writes the byte that is there, unless the page is the process's own. */
static int own_page(const struct proc *proc, struct private_run *owned, taddr addr,
		    struct uspl_err *err)
{
	bool *is_own = private_page(owned, proc, addr, PRIVATE_RUN_MAX);
	uint8_t byte;
	int rc;

	if (*is_own)
		return 0;
	rc = proc_read(proc, addr, &byte, 1, err);
	if (rc)
		return rc;
	*is_own = true;
	return proc_write(proc, addr, &byte, 1, err);
}

int patch_stopped_prepare(const struct patch_stopped *patch, struct uspl_err *err)
{
	const struct proc *proc = patch->in->proc;
	struct private_run owned = { 0 };
	const struct site *site;

	vec_for_each (patch->sites, site) {
		int rc = own_page(proc, &owned, site->addr, err);

		if (rc)
			return rc;
		rc = own_page(proc, &owned, site->addr + site->len - 1, err);
		if (rc)
			return rc;
	}
	return 0;
}

static void drop_plan(struct run *run)
{
	site_plan_clear(&run->plan);
	run->n = 0;
}

/*
 * A thread that comes out of its call meanwhile shouldn't wait for all of it. sleepers may be NULL.
 */
static int make_plan(struct run *run, struct held_sleepers *sleepers, struct uspl_err *err)
{
	const site_vec *all = run->patch->sites;
	size_t n, pages = 0;
	taddr page = UINT64_MAX;
	int rc;

	/* As many sites as one stop may have. */
	for (n = run->done; n < all->n; n++) {
		pages += all->items[n].addr / PAGE != page;
		page = all->items[n].addr / PAGE;
		if (pages > run->pages)
			break;
	}
	run->n = n - run->done;
	rc = site_plan_check_these(&run->plan, all->items + run->done, run->n, err);
	if (sleepers)
		held_sleepers_serve(sleepers);
	if (rc)
		goto drop;
	rc = site_plan_prepare(&run->plan, err);
	if (rc)
		goto drop;
	return 0;

drop:
	drop_plan(run);
	return rc;
}

static bool may_stay(void *ctx, const struct thread *thread)
{
	struct run *run = ctx;
	struct safety *bytes = &run->patch->bytes;

	return !bytes->ranges.n || safety_check(bytes, thread, &run->finding);
}

static int attempt(struct run *run, struct held_sleepers *sleepers, bool *ret_drained,
		   struct uspl_err *err)
{
	const struct thread *thread;
	int64_t stop_ns;
	double stop_us;
	size_t pages;
	int rc = held_sleepers_enter(sleepers, clock_now_ns() + STOP_LIMIT_NS, err);

	*ret_drained = !rc;
	vec_for_each (&sleepers->stop.threads, thread)
		if (*ret_drained && thread->state == THREAD_STOPPED && !may_stay(run, thread))
			*ret_drained = false;
	if (*ret_drained)
		rc = site_plan_write(&run->plan, err);
	held_sleepers_leave(sleepers);
	stop_ns = sleepers->left_ns - sleepers->entered_ns;
	stop_us = (double)stop_ns / 1000;
	pages = (size_t)stop_ns / NS_A_PAGE;
	run->pages = pages < PAGES_LEAST ? PAGES_LEAST : pages > PAGES_MOST ? PAGES_MOST : pages;
	if (stop_us > run->stop_us)
		run->stop_us = stop_us;
	log_info("stop", "%zu sites, %zu threads: %.0f us", run->n, sleepers->stop.threads.n,
		 stop_us);
	if (rc || !*ret_drained)
		return rc;
	rc = site_plan_confirm(&run->plan, err);
	if (!rc)
		run->done += run->n;
	drop_plan(run);
	return rc;
}

/* Exchanges what is left, or as much of it as it can. */
static int exchange_rest(struct held_sleepers *sleepers, void *ctx, struct uspl_err *err)
{
	struct run *run = ctx;
	int64_t until = clock_now_ns() + HELD_SLEEPERS_NS, wanted, since;
	int rc = held_sleepers_hold(sleepers, may_stay, run, clock_now_ns() + STOP_LIMIT_NS, err);

	if (rc)
		return rc;
	for (int tries = 0; tries < TRIES && clock_now_ns() < until;) {
		bool drain;

		rc = attempt(run, sleepers, &drain, err);
		if (rc)
			return rc;
		if (run->done == run->patch->sites->n)
			break;
		tries = drain ? 0 : tries + 1;
		if (drain)
			rc = make_plan(run, sleepers, err);
		else
			held_sleepers_rest(sleepers, PAUSE_NS);
		/* The next stop is planned meanwhile, which may be enough. */
		wanted = sleepers->left_ns - sleepers->entered_ns;
		if (wanted > REST_MAX_NS)
			wanted = REST_MAX_NS;
		since = clock_now_ns() - sleepers->left_ns;
		if (since < wanted)
			held_sleepers_rest(sleepers, wanted - since);
		if (rc)
			return rc;
	}
	return 0;
}

static int exchange_all(struct run *run, struct uspl_err *err)
{
	const struct patch_stopped *patch = run->patch;
	const struct timespec pause = { 0, PAUSE_NS };
	int64_t deadline = proc_deadline(patch->in->proc, TRY_NS);

	while (run->done < patch->sites->n) {
		size_t from = run->done;
		bool late = clock_now_ns() >= deadline;
		int rc = run->n ? 0 : make_plan(run, NULL, err);

		if (!rc)
			rc = held_sleepers_run(patch->in->proc, exchange_rest, run, err);
		/*
		 * On a busy machine a thread that wants to run isn't stopped before its turn comes.
		 */
		if (run->done == patch->sites->n || (rc && (late || rc != -USPL_E_UNSTOPPABLE)))
			return rc;
		rc = cancel_check(err);
		if (rc)
			return rc;
		if (run->done > from)
			deadline = clock_now_ns() + TRY_NS;
		else if (late)
			return uspl_fail(err, USPL_E_BUSY,
					 "thread %d of pid %d stays within the first bytes of a "
					 "function of '%s'",
					 run->finding.tid, patch->in->proc->pid,
					 run->finding.function
						 ? run->finding.function
						 : patch->sites->items[run->done].name);
		nanosleep(&pause, NULL);
	}
	return 0;
}

int patch_stopped_exchange(struct patch_stopped *patch, struct patch_result *result,
			   struct uspl_err *err)
{
	struct run run = { .patch = patch, .plan.proc = patch->in->proc, .pages = PAGES_FIRST };
	int rc = exchange_all(&run, err);

	if (run.stop_us > result->stop_us)
		result->stop_us = run.stop_us;
	site_plan_release(&run.plan);
	return rc;
}

int patch_stopped_once(const struct patch_input *in, const site_vec *sites,
		       struct patch_result *result, struct uspl_err *err)
{
	auto_patch_stopped struct patch_stopped patch = { 0 };
	int rc = patch_stopped_init(&patch, in, sites, err);

	if (rc)
		return rc;
	rc = patch_stopped_prepare(&patch, err);
	if (rc)
		return rc;
	return patch_stopped_exchange(&patch, result, err);
}
