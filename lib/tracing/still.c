// SPDX-License-Identifier: GPL-3.0-or-later
// still.c - sites that are exchanged in stops, as many at a time as nobody has to wait long for
/*
 * Those that run are stopped for each portion, and look at nothing but their own place. Those that sleep are looked at once, before the first
 * portion, and can't come back to the program's code unseen (lull.h): so they sleep on, and are nobody's concern.
 *
 * We write from outside, and not an agent within: were we killed, the kernel would finish the page, and only then let the threads go. An
 * agent would go on by itself, among threads that run again.
 */

#include <time.h>

#include "base/cancel.h"
#include "base/log.h"
#include "proc/lull.h"
#include "tracing/internal.h"

/* Where many want the same processor a thread may stay where it is for a while. */
#define TRY_NS 30000000000ll
#define PAUSE_NS 2000000
/* So often a portion is tried, with that between, before our signals are heard again. */
#define TRIES 20
/* And after so long they are in any case, though sleepers are woken once more then. */
#define LULL_NS 1000000000ll
/* Pages that are written in one stop: a bit more than 1 us each. */
#define PAGES_MAX 40

struct run {
	const struct batch_input *in;
	const site_vec *sites; /* by address */
	size_t done;           /* so many of them are exchanged, */
	size_t n;              /* and so many more are planned for the next stop */
	struct site_plan plan; /* of these */
	struct safety bytes;   /* of all sites: that no thread may stand in */
	struct safety_finding finding;
	double stop_us;
};

static void drop_plan(struct run *run)
{
	site_plan_release(&run->plan);
	run->plan = (struct site_plan){ .proc = run->in->proc };
	run->n = 0;
}

static int add_bytes(struct run *run, struct uspl_err *err)
{
	const struct site *site;
	int rc = 0;

	vec_for_each (run->sites, site)
		if (!rc && site->guard > 1)
			rc = safety_add(&run->bytes, site->name, site->addr + 1, site->guard - 1u,
					false, err);
	safety_seal(&run->bytes);
	return rc;
}

/* As many sites as one stop may have. */
static int add_sites(struct run *run, struct uspl_err *err)
{
	const struct site *sites = run->sites->items;
	taddr page = UINT64_MAX;
	size_t i = run->done, pages = 0;
	int rc = 0;

	for (; !rc && i < run->sites->n; i++) {
		pages += sites[i].addr / PAGE != page;
		page = sites[i].addr / PAGE;
		if (pages > PAGES_MAX)
			break;
		rc = site_plan_add(&run->plan, &sites[i], err);
	}
	run->n = i - run->done;
	return rc;
}

/* Who comes out of its call meanwhile shouldn't wait for all of it. lull may be NULL. */
static int make_plan(struct run *run, struct lull *lull, struct uspl_err *err)
{
	int rc = add_sites(run, err);

	if (lull)
		lull_serve(lull);
	if (!rc)
		rc = site_plan_check(&run->plan, err);
	if (lull)
		lull_serve(lull);
	if (!rc)
		rc = site_plan_prepare(&run->plan, err);
	if (rc)
		drop_plan(run);
	return rc;
}

static bool may_stay(void *ctx, const struct thread *thread)
{
	struct run *run = ctx;

	return !run->bytes.ranges.n || safety_check(&run->bytes, thread, &run->finding);
}

static bool is_clear(struct run *run, const struct lull *lull)
{
	const struct thread *thread;

	vec_for_each (&lull->stop.threads, thread)
		if (thread->state == THREAD_STOPPED && !may_stay(run, thread))
			return false;
	return true;
}

static int write_stopped(struct run *run, struct lull *lull, bool *ret_clear, struct uspl_err *err)
{
	int rc = lull_enter(lull, clock_now_ns() + STOP_LIMIT_NS, err);

	*ret_clear = !rc && is_clear(run, lull);
	if (*ret_clear)
		rc = site_plan_write(&run->plan, err);
	lull_leave(lull);
	return rc;
}

static int attempt(struct run *run, struct lull *lull, bool *ret_clear, struct uspl_err *err)
{
	int rc = write_stopped(run, lull, ret_clear, err);
	double stop_us = (double)(lull->left_ns - lull->entered_ns) / 1000;

	if (stop_us > run->stop_us)
		run->stop_us = stop_us;
	log_info("stop", "%zu sites, %zu threads: %.0f us", run->n, lull->stop.threads.n, stop_us);
	if (rc || !*ret_clear)
		return rc;
	rc = site_plan_confirm(&run->plan, err);
	if (!rc)
		run->done += run->n;
	drop_plan(run);
	return rc;
}

/* What is left, or as far as it goes. The next stop is planned while everybody runs, which gives them time to. */
static int exchange_rest(struct lull *lull, void *ctx, struct uspl_err *err)
{
	struct run *run = ctx;
	int64_t until = clock_now_ns() + LULL_NS;
	int rc = lull_catch(lull, may_stay, run, clock_now_ns() + STOP_LIMIT_NS, err);

	for (int tries = 0; !rc && tries < TRIES && clock_now_ns() < until;) {
		bool clear;

		rc = attempt(run, lull, &clear, err);
		if (rc || run->done == run->sites->n)
			break;
		tries = clear ? 0 : tries + 1;
		if (clear)
			rc = make_plan(run, lull, err);
		else
			lull_rest(lull, PAUSE_NS);
	}
	return rc;
}

static int fail_busy(const struct run *run, struct uspl_err *err)
{
	const struct safety_finding *finding = &run->finding;

	return uspl_fail(err, USPL_E_BUSY,
			 "thread %d of pid %d stays within the first bytes of a function of '%s'",
			 finding->tid, run->in->proc->pid,
			 finding->function ? finding->function : run->sites->items[run->done].name);
}

static int exchange_all(struct run *run, struct uspl_err *err)
{
	const struct timespec pause = { 0, PAUSE_NS };
	int64_t deadline = clock_now_ns() + TRY_NS;

	while (run->done < run->sites->n) {
		size_t from = run->done;
		bool late = clock_now_ns() >= deadline;
		int rc = run->n ? 0 : make_plan(run, NULL, err);

		if (!rc)
			rc = lull_run(run->in->proc, exchange_rest, run, err);
		/* On a busy machine a thread that wants to run isn't stopped before its turn comes. */
		if (run->done == run->sites->n || (rc && (late || rc != -USPL_E_UNSTOPPABLE)))
			return rc;
		rc = cancel_check(err);
		if (rc)
			return rc;
		if (run->done > from)
			deadline = clock_now_ns() + TRY_NS;
		else if (late)
			return fail_busy(run, err);
		nanosleep(&pause, NULL);
	}
	return 0;
}

int still_exchange(const struct batch_input *in, const site_vec *sites, struct batch_result *result,
		   struct uspl_err *err)
{
	struct run run = { .in = in,
			   .sites = sites,
			   .plan.proc = in->proc,
			   .bytes = { .proc = in->proc, .unwinder = in->unwinder } };
	int rc = add_bytes(&run, err);

	if (!rc)
		rc = exchange_all(&run, err);
	if (run.stop_us > result->stop_us)
		result->stop_us = run.stop_us;
	drop_plan(&run);
	safety_release(&run.bytes);
	return rc;
}
