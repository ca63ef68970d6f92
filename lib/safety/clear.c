// SPDX-License-Identifier: GPL-3.0-or-later
// clear.c - which threads are still in code that nobody enters any more
/*
 * Nothing leads into the code, so a thread that was seen outside stays outside, and each can be
 * looked at in its own time: sleepers where they sleep, the others in a short stop. A thread that
 * is born later has never been in.
 */

#include "safety/clear.h"

#include <time.h>

#include "proc/shstk.h"
#include "safety/parked.h"
#include "thread/stop.h"
#include "thread/tracer_thread.h"

/* How often memory is looked through for stacks that nobody is on, and how long between. */
#define SCANS 3
#define SCAN_PAUSE_NS 2000000

/* Counts what was looked at, a thread that is in the text by its id. */
static int count(struct clear *clear, bool in_text, bool in_agents, pid_t tid, struct uspl_err *err)
{
	pid_t *item = in_text && clear->inside ? vec_push(clear->inside) : NULL;

	if (in_text && clear->inside && !item)
		return uspl_fail_nomem(err);
	if (item)
		*item = tid;
	clear->in_text += in_text;
	clear->in_agents += in_agents;
	return 0;
}

void clear_note_stop(struct clear *clear, const struct stop *stop)
{
	double stop_us = (double)(stop->left_ns - stop->entered_ns) / 1000;

	if (stop->entered_ns && stop_us > clear->stop_us)
		clear->stop_us = stop_us;
}

/* True if it is known of the sleeper whether it is inside, without all its registers. */
static bool is_known(struct clear *clear, struct safety *safety, const struct asleep_thread *thread)
{
	struct safety_finding finding;

	if (!safety->ranges.n || safety_check_asleep(safety, thread, &finding))
		return true;
	clear->doubt = true;
	return finding.proven;
}

/*
 * Of those that have run since they were last looked at: finds out who sleeps, and what is known of
 * them.
 */
static int check_sleepers(struct clear *clear, struct asleep *asleep, struct uspl_err *err)
{
	struct asleep_thread *thread;
	int rc = asleep->threads.n ? asleep_look_again(asleep, err) : asleep_look(asleep, err);

	vec_for_each (&asleep->threads, thread)
		if (!rc && thread->class == ASLEEP_SLEEPS && !thread->clean)
			thread->clean = is_known(clear, &clear->text, thread) &&
					is_known(clear, &clear->agents, thread);
	return rc;
}

static int list_others(const struct asleep *asleep, tid_vec *ret, struct uspl_err *err)
{
	const struct asleep_thread *thread;

	vec_for_each (&asleep->threads, thread) {
		pid_t *item;

		if (thread->class == ASLEEP_NO_CODE ||
		    (thread->class == ASLEEP_SLEEPS && thread->clean))
			continue;
		item = vec_push(ret);
		if (!item)
			return uspl_fail_nomem(err);
		*item = thread->tid;
	}
	return 0;
}

/*
 * What was found of a sleeper is true if it hasn't run since: then a second look leaves it clean.
 */
static int look_at_sleepers(struct clear *clear, struct asleep *asleep, tid_vec *ret_others,
			    struct uspl_err *err)
{
	struct safety_finding finding;
	struct asleep_thread *thread;
	int rc = check_sleepers(clear, asleep, err);

	if (!rc)
		rc = asleep_look_again(asleep, err);
	vec_for_each (&asleep->threads, thread)
		if (!rc && clear->doubt && thread->class == ASLEEP_SLEEPS && thread->clean)
			rc = count(clear, !safety_check_asleep(&clear->text, thread, &finding),
				   !safety_check_asleep(&clear->agents, thread, &finding),
				   thread->tid, err);
	return rc ? rc : list_others(asleep, ret_others, err);
}

/* With everybody at a standstill. */
static int count_stopped(struct clear *clear, const struct stop *stop, struct uspl_err *err)
{
	struct safety_finding finding;
	const struct thread *thread;
	int rc = 0;

	vec_for_each (&stop->threads, thread)
		if (!rc && thread->state == THREAD_STOPPED)
			rc = count(clear, !safety_check(&clear->text, thread, &finding),
				   !safety_check(&clear->agents, thread, &finding), thread->tid,
				   err);
	return rc;
}

static void let_go(struct clear *clear, struct stop *stop)
{
	stop_leave(stop);
	clear_note_stop(clear, stop);
}

/* Where the kernel doesn't tell who sleeps. */
static int look_at_all(struct clear *clear, struct uspl_err *err)
{
	struct stop stop;
	int rc = stop_prepare(&stop, clear->text.proc, err);

	if (rc)
		return rc;
	rc = stop_enter(&stop, clock_now_ns() + STOP_LIMIT_NS, err);
	if (!rc)
		rc = count_stopped(clear, &stop, err);
	let_go(clear, &stop);
	return rc;
}

/* Those that don't sleep. */
struct others {
	struct clear *clear;
	tid_vec tids;
};

static int look_at_others(void *ctx, struct uspl_err *err)
{
	const struct others *others = ctx;
	struct clear *clear = others->clear;
	struct stop stop;
	int rc;

	stop_begin(&stop, clear->text.proc);
	rc = stop_some(&stop, &others->tids, clock_now_ns() + STOP_LIMIT_NS, err);
	if (!rc)
		rc = count_stopped(clear, &stop, err);
	let_go(clear, &stop);
	return rc;
}

static int look_at_each(struct clear *clear, struct asleep *asleep, struct uspl_err *err)
{
	struct others others = { .clear = clear };
	int rc = look_at_sleepers(clear, asleep, &others.tids, err);

	if (!rc && others.tids.n)
		rc = tracer_run_beside(clear->text.proc, look_at_others, &others, err);
	vec_release(&others.tids);
	return rc;
}

static int look_once(void *ctx, struct uspl_err *err)
{
	struct clear *clear = ctx;
	struct asleep asleep;
	int rc;

	clear->in_text = clear->in_agents = 0;
	if (clear->inside)
		clear->inside->n = 0;
	if (clear->ahead)
		return look_at_each(clear, &clear->asleep, err);
	if (asleep_open(&asleep, clear->text.proc, NULL) != 0)
		return look_at_all(clear, err);
	rc = look_at_each(clear, &asleep, err);
	asleep_release(&asleep);
	return rc;
}

int clear_look(struct clear *clear, struct uspl_err *err)
{
	return stop_again(look_once, clear, err);
}

int clear_look_ahead(struct clear *clear, struct uspl_err *err)
{
	/* Where the kernel doesn't tell who sleeps all are stopped in any case. */
	if (clear->ahead || asleep_open(&clear->asleep, clear->text.proc, NULL) != 0)
		return 0;
	clear->ahead = true;
	return check_sleepers(clear, &clear->asleep, err);
}

void clear_forget(struct clear *clear)
{
	if (clear->ahead)
		asleep_release(&clear->asleep);
	clear->ahead = false;
}

/*
 * In the stop: what can't be put back leads into the text for good, or was gone on with since the
 * scan.
 */
static int settle_parked(struct clear *clear, struct parked *parked, const struct clear_way *way,
			 const thread_vec *threads, struct uspl_err *err)
{
	struct safety_finding finding;
	size_t n;
	int rc = parked_put_back(parked, threads, &n, err);

	clear->put_back += n;
	if (!rc && !way->force && !parked_is_left(parked))
		clear->parked = !parked_check(parked, threads, &finding);
	clear->in_text += clear->parked;
	return rc;
}

struct parked_stop {
	struct clear *clear;
	struct parked *parked;
	const struct clear_way *way;
};

/*
 * A word that was seen to be returned to may lie on the stack of a thread that runs there: that one
 * was looked at before. A stop tells.
 */
static int stop_for_parked(void *ctx, struct uspl_err *err)
{
	const struct parked_stop *parked_stop = ctx;
	struct clear *clear = parked_stop->clear;
	struct stop stop;
	int rc = stop_prepare(&stop, clear->text.proc, err);

	if (rc)
		return rc;
	clear->in_text = clear->in_agents = 0;
	rc = stop_enter(&stop, clock_now_ns() + STOP_LIMIT_NS, err);
	if (!rc)
		rc = count_stopped(clear, &stop, err);
	if (!rc && !clear->in_text)
		rc = settle_parked(clear, parked_stop->parked, parked_stop->way, &stop.threads,
				   err);
	let_go(clear, &stop);
	return rc;
}

/* Deals with what a scan has found, in as many stops as nobody has to wait long in. */
static int settle_all(struct clear *clear, struct parked *parked, const struct clear_way *way,
		      struct uspl_err *err)
{
	struct parked_stop parked_stop = { .clear = clear, .parked = parked, .way = way };
	size_t before = clear->put_back;
	bool first = true;
	int rc = parked_plan_back(parked, way->force, err);

	while (!rc && !clear->in_text &&
	       (parked_is_left(parked) || (first && parked_found(parked)))) {
		rc = stop_again(stop_for_parked, &parked_stop, err);
		first = false;
	}
	/* What there was no room for may be what matters. */
	if (!rc && !clear->in_text && parked->full && clear->put_back == before && !way->force) {
		clear->parked = true;
		clear->in_text = 1;
	}
	return rc;
}

int clear_look_parked(struct clear *clear, const struct clear_way *way, struct uspl_err *err)
{
	const struct timespec pause = { 0, SCAN_PAUSE_NS };
	/* With a shadow stack nothing can be put back, and what is taken would be missed. */
	const struct clear_way possible = {
		.scan_bytes = way->scan_bytes,
		.force = way->force && !shstk_in_process(clear->text.proc),
	};
	struct parked parked = { .safety = &clear->text, .budget = way->scan_bytes };
	int rc = 0;

	/*
	 * A stack that somebody runs on while it is looked at may be missed, so it is done again.
	 * What was put back is done with.
	 */
	for (int left = SCANS; !rc && left; left--) {
		size_t before = clear->put_back;

		if (left < SCANS)
			nanosleep(&pause, NULL);
		clear->parked = false;
		clear->in_text = 0;
		rc = parked_scan(&parked, err);
		if (rc || !parked.words.n)
			break;
		rc = settle_all(clear, &parked, &possible, err);
		if ((clear->in_text && !clear->parked) ||
		    (possible.force && clear->put_back == before))
			break;
		if (clear->put_back > before)
			left = SCANS + 1;
	}
	clear->left_out = parked.left_out;
	if (!rc && !clear->in_text && parked.words.n)
		rc = clear_look(clear, err);
	parked_release(&parked);
	return rc;
}
