// SPDX-License-Identifier: GPL-3.0-or-later
// still.c - sites that are exchanged in stops, as many at a time as nobody has to wait long for
/*
 * Those that sleep are stopped, too: one of them might wake in that moment. They are stopped and looked at first, and let go last, so that
 * those that run stand still for the writing alone.
 *
 * We write from outside, and not an agent within: were we killed, the kernel would finish the page, and only then let the threads go. An
 * agent would go on by itself, among threads that run again.
 */

#include <time.h>

#include "base/cancel.h"
#include "base/log.h"
#include "proc/stop.h"
#include "tracing/internal.h"

/* Where many want the same processor a thread may stay where it is for a while. */
#define TRY_NS 30000000000ll
#define PAUSE_NS 2000000
/* Pages that are written in one stop: a bit more than 1 us each. */
#define PAGES_MAX 40

/* Sites that are exchanged in one stop. */
struct portion {
	const struct batch_input *in;
	struct site_plan plan;
	struct safety bytes; /* that no thread may stand in */
	struct safety_finding finding;
	double stop_us;
	bool stuck; /* a thread could not even be let go again */
};

static void portion_release(struct portion *portion)
{
	site_plan_release(&portion->plan);
	safety_release(&portion->bytes);
}

static int portion_add(struct portion *portion, const struct site *site, struct uspl_err *err)
{
	int rc = site_plan_add(&portion->plan, site, err);

	if (!rc && site->guard > 1)
		rc = safety_add(&portion->bytes, site->name, site->addr + 1, site->guard - 1u,
				false, err);
	return rc;
}

/* Takes as many sites from `first` on as one stop may have; *ret_n: how many. */
static int portion_take(struct portion *portion, const site_vec *sites, size_t first, size_t *ret_n,
			struct uspl_err *err)
{
	taddr page = UINT64_MAX;
	size_t i = first, pages = 0;
	int rc = 0;

	for (; !rc && i < sites->n; i++) {
		const struct site *site = &sites->items[i];

		pages += site->addr / PAGE != page;
		page = site->addr / PAGE;
		if (pages > PAGES_MAX)
			break;
		rc = portion_add(portion, site, err);
	}
	safety_seal(&portion->bytes);
	if (!rc)
		rc = site_plan_check(&portion->plan, err);
	if (!rc)
		rc = site_plan_prepare(&portion->plan, err);
	if (!rc)
		*ret_n = i - first;
	return rc;
}

/* Which of a stop's threads have been looked at, by their places. */
typedef VEC(bool) seen_vec;

/* Looks at those that stand still and haven't been looked at yet: *ret_clear is false if one is in the way. */
static int look(struct portion *portion, const struct stop *stop, seen_vec *seen, bool *ret_clear,
		struct uspl_err *err)
{
	const struct thread *thread;

	*ret_clear = true;
	if (!portion->bytes.ranges.n)
		return 0;
	while (seen->n < stop->threads.n)
		if (!vec_push(seen))
			return uspl_fail_nomem(err);
	vec_for_each (&stop->threads, thread) {
		bool *it = &seen->items[thread - stop->threads.items];

		if (*it || thread->state != THREAD_STOPPED)
			continue;
		if (!safety_check(&portion->bytes, thread, &portion->finding)) {
			*ret_clear = false;
			break;
		}
		*it = true;
	}
	return 0;
}

/* Between stop_prepare and stop_leave. */
static int write_stopped(struct portion *portion, struct stop *stop, bool *ret_done,
			 struct uspl_err *err)
{
	int64_t deadline = clock_now_ns() + STOP_LIMIT_NS;
	seen_vec seen = { 0 };
	bool clear = false;
	int rc = stop_sleepers(stop, deadline, err);

	if (!rc)
		rc = look(portion, stop, &seen, &clear, err);
	if (!rc && clear)
		rc = stop_enter(stop, deadline, err);
	if (!rc && clear)
		rc = look(portion, stop, &seen, &clear, err);
	if (!rc && clear)
		rc = site_plan_write(&portion->plan, err);
	vec_release(&seen);
	if (!rc)
		*ret_done = clear;
	return rc;
}

static int attempt(struct portion *portion, bool *ret_done, struct uspl_err *err)
{
	struct stop stop;
	double stop_us;
	int rc = stop_prepare(&stop, portion->in->proc, err);

	if (rc)
		return rc;
	rc = write_stopped(portion, &stop, ret_done, err);
	stop_leave(&stop);
	portion->stuck = stop.stuck;
	if (!rc && *ret_done)
		rc = site_plan_confirm(&portion->plan, err);
	stop_us = stop.halted_ns ? (double)(stop.left_ns - stop.halted_ns) / 1000 : 0;
	if (stop_us > portion->stop_us)
		portion->stop_us = stop_us;
	log_info("stop", "%zu sites, %zu threads: %.0f us", portion->plan.sites.n, stop.n_threads,
		 stop_us);
	return rc;
}

static int fail_busy(const struct portion *portion, struct uspl_err *err)
{
	const struct safety_finding *finding = &portion->finding;

	return uspl_fail(err, USPL_E_BUSY,
			 "thread %d of pid %d stays within the first bytes of a function of '%s'",
			 finding->tid, portion->in->proc->pid,
			 finding->function ? finding->function : portion->plan.sites.items->name);
}

static int portion_exchange(struct portion *portion, struct uspl_err *err)
{
	const struct timespec pause = { 0, PAUSE_NS };
	int64_t deadline = clock_now_ns() + TRY_NS;

	for (;;) {
		bool done = false, late = clock_now_ns() >= deadline;
		int rc = attempt(portion, &done, err);

		/* On a busy machine a thread that wants to run isn't stopped before its turn comes. */
		if (done || (rc && (late || portion->stuck || rc != -USPL_E_UNSTOPPABLE)))
			return rc;
		rc = cancel_check(err);
		if (rc)
			return rc;
		if (late)
			return fail_busy(portion, err);
		nanosleep(&pause, NULL);
	}
}

int still_exchange(const struct batch_input *in, const site_vec *sites, struct batch_result *result,
		   struct uspl_err *err)
{
	int rc = 0;

	for (size_t at = 0, n = 0; !rc && at < sites->n; at += n) {
		struct portion portion = { .in = in,
					   .plan.proc = in->proc,
					   .bytes = { .proc = in->proc,
						      .unwinder = in->unwinder } };

		rc = portion_take(&portion, sites, at, &n, err);
		if (!rc)
			rc = portion_exchange(&portion, err);
		if (portion.stop_us > result->stop_us)
			result->stop_us = portion.stop_us;
		portion_release(&portion);
	}
	return rc;
}
