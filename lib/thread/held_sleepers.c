// SPDX-License-Identifier: GPL-3.0-or-later
// held_sleepers.c - short stops, one after the other, for which those that sleep are woken once
/*
 * A thread that was stopped in a system call is let go with PTRACE_SYSCALL: it makes the call
 * again, stops before it, is let go likewise, and sleeps. It stops once more before it comes back
 * from the call, and before it takes a signal; there is no other way out of the kernel. So as long
 * as the tool doesn't let it go on from there it executes nothing of the program.
 *
 * It can be detached from only while it stands still, so it would have to be woken again for that.
 * So all of it is done in a thread of the tool's that detaches by ending (tracer_thread.h). The
 * same happens if the tool is killed.
 */

#include "thread/held_sleepers.h"

#include <time.h>

#include "base/log.h"
#include "proc/force.h"
#include "thread/tracer_thread.h"

/* So many sleepers stand still at once while they are looked at. */
#define GROUP 8
/* While the tool waits for one that runs, others that were held may come out. */
#define SLICE_NS 1000000ll
#define PAUSE_NS 20000

struct held_sleepers_run {
	const struct proc *proc;
	held_sleepers_work *work;
	void *ctx;
};

void held_sleepers_serve(struct held_sleepers *sleepers)
{
	tracer_serve(sleepers->stop.proc, &sleepers->stop.threads);
	sleepers->served_ns = clock_now_ns();
}

static void serve_in_time(struct held_sleepers *sleepers)
{
	if (clock_now_ns() > sleepers->served_ns + SLICE_NS)
		held_sleepers_serve(sleepers);
}

/* Attaches to those that were let go, and sees which threads have children. */
static int seize_parents(struct held_sleepers *sleepers, struct uspl_err *err)
{
	struct thread *thread;

	vec_for_each (&sleepers->stop.threads, thread) {
		int rc;

		if (thread->state == THREAD_SEIZED || thread->state == THREAD_FREE)
			thread->has_children = task_has_children(sleepers->stop.proc, thread->tid);
		thread->slept = thread->slept && !thread->has_children;
		sleepers->parents |= thread->has_children;
		if (thread->state != THREAD_FREE)
			continue;
		reap_admit(true);
		rc = thread_seize(sleepers->stop.proc, thread, err);
		reap_admit(false);
		if (rc)
			return rc;
	}
	return 0;
}

/* Some sleepers, while they are looked at and held. */
struct group {
	struct held_sleepers *sleepers;
	struct thread *threads;
	size_t n;
	int64_t deadline;
};

/* Each stands still only until it has been looked at. */
static int look_at(const struct group *group,
		   bool (*may_stay)(void *ctx, const struct thread *thread), void *ctx,
		   struct uspl_err *err)
{
	const struct proc *proc = group->sleepers->stop.proc;
	int rc = 0;

	for (size_t i = 0; i < group->n; i++)
		if (group->threads[i].slept)
			thread_interrupt(&group->threads[i]);
	for (size_t i = 0; i < group->n; i++) {
		struct thread *thread = &group->threads[i];

		if (!thread->slept || thread->state != THREAD_ASKED)
			continue;
		rc = thread_wait(proc, thread, group->deadline, err);
		if (!rc && thread->state == THREAD_STOPPED)
			rc = thread_read_regs(proc, thread, err);
		thread->slept = !rc && thread->state == THREAD_STOPPED && may_stay(ctx, thread) &&
				thread_send_back(proc, thread);
		thread_resume(proc, thread);
		serve_in_time(group->sleepers);
		if (rc)
			return rc;
	}
	return 0;
}

/* By the time that the last one has been looked at the first one is back at its call. */
static int let_in(const struct group *group, struct uspl_err *err)
{
	const struct proc *proc = group->sleepers->stop.proc;
	int rc = 0;

	for (size_t i = 0; i < group->n; i++) {
		struct thread *thread = &group->threads[i];

		if (!thread->slept || thread->state != THREAD_ASKED)
			continue;
		rc = thread_hold(proc, thread, group->deadline, err);
		thread->slept = thread->state == THREAD_HELD;
		thread_resume(proc, thread);
		serve_in_time(group->sleepers);
		if (rc)
			return rc;
	}
	return 0;
}

/* Waits for those that were asked. One that was held and comes out now runs, and is asked, too. */
static int await_all(struct held_sleepers *sleepers, int64_t deadline, struct uspl_err *err)
{
	struct thread *thread;
	bool again = true;

	while (again) {
		again = false;
		held_sleepers_serve(sleepers);
		stop_ask(&sleepers->stop, false);
		vec_for_each (&sleepers->stop.threads, thread) {
			int64_t now = clock_now_ns(), slice = now + SLICE_NS;
			bool last = slice >= deadline;
			int rc;

			if (thread->state != THREAD_ASKED)
				continue;
			rc = thread_wait(sleepers->stop.proc, thread, last ? deadline : slice,
					 last ? err : NULL);
			if (rc && (last || rc != -USPL_E_UNSTOPPABLE))
				return rc;
			again = again || rc;
		}
	}
	return 0;
}

int held_sleepers_enter(struct held_sleepers *sleepers, int64_t deadline, struct uspl_err *err)
{
	int rc;

	sleepers->entered_ns = clock_now_ns();
	rc = seize_parents(sleepers, err);
	if (rc)
		return rc;
	rc = stop_late(&sleepers->stop, err);
	if (rc)
		return rc;
	rc = await_all(sleepers, deadline, err);
	if (rc)
		return rc;
	/* What is left are threads that have been born meanwhile. */
	return stop_enter(&sleepers->stop, deadline, err);
}

void held_sleepers_leave(struct held_sleepers *sleepers)
{
	const struct proc *proc = sleepers->stop.proc;
	struct thread *thread;

	vec_for_each (&sleepers->stop.threads, thread)
		if (thread->has_children)
			thread_release(proc, thread);
	vec_for_each (&sleepers->stop.threads, thread)
		if (!stop_is_last(thread))
			thread_resume(proc, thread);
	vec_for_each (&sleepers->stop.threads, thread)
		thread_resume(proc, thread);
	sleepers->left_ns = clock_now_ns();
	held_sleepers_serve(sleepers);
}

int held_sleepers_hold(struct held_sleepers *sleepers,
		       bool (*may_stay)(void *ctx, const struct thread *thread), void *ctx,
		       int64_t deadline, struct uspl_err *err)
{
	struct thread *threads = sleepers->stop.threads.items;
	size_t n = sleepers->stop.threads.n;
	const struct thread *thread;
	bool parents = false;
	int rc = seize_parents(sleepers, err);

	/*
	 * Where code is written by way of a thread that stands still, none may be held that can't.
	 */
	if (!force_is_free()) {
		for (size_t i = 0; i < n; i++)
			threads[i].slept = false;
		return 0;
	}
	if (rc)
		return rc;
	for (size_t at = 0; at < n; at += GROUP) {
		const struct group group = { .sleepers = sleepers,
					     .threads = threads + at,
					     .n = n - at < GROUP ? n - at : GROUP,
					     .deadline = deadline };

		rc = look_at(&group, may_stay, ctx, err);
		if (rc)
			return rc;
		rc = let_in(&group, err);
		if (rc)
			return rc;
	}
	/*
	 * As long as the tool is attached to a thread with children, their ends wake others
	 * (task_has_children). So it is let go whenever nothing is stopped. It has to stand still
	 * for that, and so do the others that aren't held.
	 */
	vec_for_each (&sleepers->stop.threads, thread)
		parents |= thread->has_children && thread->state == THREAD_SEIZED;
	if (!parents)
		return 0;
	rc = held_sleepers_enter(sleepers, clock_now_ns() + STOP_LIMIT_NS, err);
	held_sleepers_leave(sleepers);
	return rc;
}

void held_sleepers_rest(struct held_sleepers *sleepers, int64_t ns)
{
	const struct timespec pause = { 0, PAUSE_NS };
	int64_t until = clock_now_ns() + ns;

	for (held_sleepers_serve(sleepers); clock_now_ns() < until; held_sleepers_serve(sleepers))
		nanosleep(&pause, NULL);
}

static int run_holding(void *ctx, struct uspl_err *err)
{
	const struct held_sleepers_run *run = ctx;
	struct held_sleepers sleepers = { 0 };
	int rc = stop_attach(&sleepers.stop, run->proc, err);

	if (rc)
		return rc;
	sleepers.parents = task_reaps(run->proc);
	rc = run->work(&sleepers, run->ctx, err);
	if (sleepers.parents) {
		/*
		 * Threads that aren't held stand still once more, all at once, and are detached
		 * from: from a thread that runs, and forks, the kernel would detach only when one
		 * of its children may have woken another thread.
		 */
		if (seize_parents(&sleepers, NULL) != 0 ||
		    await_all(&sleepers, clock_now_ns() + STOP_LIMIT_NS, NULL) != 0)
			log_info("stop", "a call of a thread of pid %d may be interrupted",
				 run->proc->pid);
		stop_go(&sleepers.stop);
		tracer_settle(run->proc, &sleepers.stop.threads);
	}
	stop_end(&sleepers.stop);
	return rc;
}

int held_sleepers_run(const struct proc *proc, held_sleepers_work *work, void *ctx,
		      struct uspl_err *err)
{
	struct held_sleepers_run run = { .proc = proc, .work = work, .ctx = ctx };

	return tracer_run(run_holding, &run, err);
}
