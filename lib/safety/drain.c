// SPDX-License-Identifier: GPL-3.0-or-later
// drain.c - which threads are still in code that no thread enters any more
/*
 * Nothing leads into the code, so a thread that was seen outside stays outside, and each can be
 * looked at in its own time: sleepers where they sleep, the others in a short stop. A thread that
 * is born later has never been in.
 */

#include "safety/drain.h"

#include <time.h>

#include "proc/shstk.h"
#include "safety/inactive.h"
#include "thread/stop.h"

/* How often memory is looked through for stacks that no thread is on, and how long between. */
#define SCANS 3
#define SCAN_PAUSE_NS 2000000

/* Counts what was looked at, a thread that is in the text by its id. */
static int count(struct drain *drain, bool in_text, bool in_agents, pid_t tid, struct uspl_err *err)
{
	pid_t *item = in_text && drain->inside ? vec_push(drain->inside) : NULL;

	if (in_text && drain->inside && !item)
		return uspl_fail_nomem(err);
	if (item)
		*item = tid;
	drain->in_text += in_text;
	drain->in_agents += in_agents;
	return 0;
}

void drain_note_stop(struct drain *drain, const struct stop *stop)
{
	double stop_us = (double)(stop->left_ns - stop->entered_ns) / 1000;

	if (stop->entered_ns && stop_us > drain->stop_us)
		drain->stop_us = stop_us;
}

/* True if it is known of the sleeper whether it is inside, without all its registers. */
static bool is_known(struct drain *drain, struct safety *safety,
		     const struct blocked_thread *thread)
{
	struct safety_finding finding;

	if (!safety->ranges.n || safety_check_blocked(safety, thread, &finding))
		return true;
	drain->doubt = true;
	return finding.proven;
}

/*
 * Looks at the threads that have run since the last look: which sleep, and what is known of them.
 */
static int check_sleepers(struct drain *drain, struct blocked *blocked, struct uspl_err *err)
{
	struct blocked_thread *thread;
	int rc = blocked->threads.n ? blocked_look_again(blocked, err) : blocked_look(blocked, err);

	if (rc)
		return rc;
	vec_for_each (&blocked->threads, thread)
		if (!rc && thread->class == BLOCKED_SLEEPS && !thread->checked)
			thread->checked = is_known(drain, &drain->text, thread) &&
					  is_known(drain, &drain->agents, thread);
	return 0;
}

/*
 * What was found of a sleeper is true if it hasn't run since: then a second look leaves it clean.
 */
static int look_at_sleepers(struct drain *drain, struct blocked *blocked, tid_vec *ret_others,
			    struct uspl_err *err)
{
	struct safety_finding finding;
	struct blocked_thread *thread;
	pid_t *item;
	int rc = check_sleepers(drain, blocked, err);

	if (rc)
		return rc;
	rc = blocked_look_again(blocked, err);
	if (rc)
		return rc;
	vec_for_each (&blocked->threads, thread)
		if (drain->doubt && thread->class == BLOCKED_SLEEPS && thread->checked) {
			rc = count(drain, !safety_check_blocked(&drain->text, thread, &finding),
				   !safety_check_blocked(&drain->agents, thread, &finding),
				   thread->tid, err);
			if (rc)
				return rc;
		}
	vec_for_each (&blocked->threads, thread) {
		if (thread->class == BLOCKED_NO_CODE ||
		    (thread->class == BLOCKED_SLEEPS && thread->checked))
			continue;
		item = vec_push(ret_others);
		if (!item)
			return uspl_fail_nomem(err);
		*item = thread->tid;
	}
	return 0;
}

/* With all threads at a standstill. */
static int count_stopped(struct drain *drain, const struct stop *stop, struct uspl_err *err)
{
	struct safety_finding finding;
	const struct thread *thread;
	int rc = 0;

	vec_for_each (&stop->threads, thread)
		if (thread->state == THREAD_STOPPED && !thread->beside) {
			rc = count(drain, !safety_check(&drain->text, thread, &finding),
				   !safety_check(&drain->agents, thread, &finding), thread->tid,
				   err);
			if (rc)
				return rc;
		}
	return 0;
}

static void let_go(struct drain *drain, struct stop *stop)
{
	stop_leave(stop);
	drain_note_stop(drain, stop);
}

static int look_at_each(struct drain *drain, struct blocked *blocked, struct uspl_err *err)
{
	auto_vec tid_vec others = { 0 };
	struct stop stop;
	int rc = look_at_sleepers(drain, blocked, &others, err);

	if (rc || !others.n)
		return rc;
	stop_begin(&stop, drain->text.proc);
	rc = stop_some(&stop, &others, clock_now_ns() + STOP_LIMIT_NS, err);
	if (!rc)
		rc = count_stopped(drain, &stop, err);
	let_go(drain, &stop);
	return rc;
}

static int look_once(void *ctx, struct uspl_err *err)
{
	struct drain *drain = ctx;
	const struct proc *proc = drain->text.proc;
	struct blocked blocked;
	struct stop stop;
	int rc = proc_check_current(proc, proc_task(proc), err);

	if (rc)
		return rc;
	drain->in_text = drain->in_agents = 0;
	if (drain->inside)
		drain->inside->n = 0;
	if (drain->ahead)
		return look_at_each(drain, &drain->blocked, err);
	if (blocked_open(&blocked, proc, NULL) == 0) {
		rc = look_at_each(drain, &blocked, err);
		blocked_release(&blocked);
		return rc;
	}
	/* The kernel doesn't tell which threads sleep. */
	rc = stop_prepare(&stop, proc, err);
	if (rc)
		return rc;
	rc = stop_enter(&stop, clock_now_ns() + STOP_LIMIT_NS, err);
	if (!rc)
		rc = count_stopped(drain, &stop, err);
	let_go(drain, &stop);
	return rc;
}

int drain_look(struct drain *drain, struct uspl_err *err)
{
	return stop_again(drain->text.proc, look_once, drain, err);
}

int drain_look_ahead(struct drain *drain, struct uspl_err *err)
{
	/* Where the kernel doesn't tell which threads sleep all are stopped in any case. */
	if (drain->ahead || blocked_open(&drain->blocked, drain->text.proc, NULL) != 0)
		return 0;
	drain->ahead = true;
	return check_sleepers(drain, &drain->blocked, err);
}

void drain_forget(struct drain *drain)
{
	if (drain->ahead)
		blocked_release(&drain->blocked);
	drain->ahead = false;
}

struct inactive_stop {
	struct drain *drain;
	struct inactive *inactive;
	const struct drain_way *way;
};

/*
 * A word that will be returned to may lie on the stack of a thread that runs there, which was
 * looked at before. A stop tells.
 */
static int stop_for_inactive(void *ctx, struct uspl_err *err)
{
	const struct inactive_stop *inactive_stop = ctx;
	struct inactive *inactive = inactive_stop->inactive;
	struct drain *drain = inactive_stop->drain;
	struct safety_finding finding;
	struct stop stop;
	size_t n;
	int rc = stop_prepare(&stop, drain->text.proc, err);

	if (rc)
		return rc;
	drain->in_text = drain->in_agents = 0;
	rc = stop_enter(&stop, clock_now_ns() + STOP_LIMIT_NS, err);
	if (!rc)
		rc = count_stopped(drain, &stop, err);
	if (!rc && !drain->in_text) {
		rc = inactive_put_back(inactive, &stop.threads, &n, err);
		drain->put_back += n;
		/*
		 * What can't be put back leads into the text for good, or a thread has gone on
		 * there since the scan.
		 */
		if (!rc && !inactive_stop->way->force && !inactive_is_left(inactive))
			drain->inactive = !inactive_check(inactive, &stop.threads, &finding);
		drain->in_text += drain->inactive;
	}
	let_go(drain, &stop);
	return rc;
}

/* Deals with what a scan has found, in several stops, so that none is long. */
static int return_all(struct drain *drain, struct inactive *inactive, const struct drain_way *way,
		      struct uspl_err *err)
{
	struct inactive_stop inactive_stop = { .drain = drain, .inactive = inactive, .way = way };
	size_t before = drain->put_back;
	bool first = true;
	int rc = inactive_plan_back(inactive, way->force, err);

	if (rc)
		return rc;
	while (!drain->in_text &&
	       (inactive_is_left(inactive) || (first && inactive_found(inactive)))) {
		rc = stop_again(drain->text.proc, stop_for_inactive, &inactive_stop, err);
		first = false;
		if (rc)
			return rc;
	}
	/* What there was no room for may be what matters. */
	if (!drain->in_text && inactive->full && drain->put_back == before && !way->force) {
		drain->inactive = true;
		drain->in_text = 1;
	}
	return 0;
}

int drain_look_inactive(struct drain *drain, const struct drain_way *way, struct uspl_err *err)
{
	const struct timespec pause = { 0, SCAN_PAUSE_NS };
	/* With a shadow stack nothing can be put back, and what is taken would be missed. */
	const struct drain_way possible = {
		.scan_bytes = way->scan_bytes,
		.force = way->force && !shstk_in_process(drain->text.proc),
	};
	struct inactive inactive = { .safety = &drain->text, .budget = way->scan_bytes };
	int rc = 0;

	/*
	 * A stack that a thread runs on while it is looked at may be missed, so the scan is made
	 * again. What was put back needs no more.
	 */
	for (int left = SCANS; !rc && left; left--) {
		size_t before = drain->put_back;

		if (left < SCANS)
			nanosleep(&pause, NULL);
		drain->inactive = false;
		drain->in_text = 0;
		rc = inactive_scan(&inactive, err);
		if (rc || !inactive.words.n)
			break;
		rc = return_all(drain, &inactive, &possible, err);
		if ((drain->in_text && !drain->inactive) ||
		    (possible.force && drain->put_back == before))
			break;
		if (drain->put_back > before)
			left = SCANS + 1;
	}
	drain->left_out = inactive.left_out;
	if (!rc && !drain->in_text && inactive.words.n)
		rc = drain_look(drain, err);
	inactive_release(&inactive);
	return rc;
}
