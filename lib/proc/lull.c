// SPDX-License-Identifier: GPL-3.0-or-later
// lull.c - short stops, one after the other, for which those that sleep are woken once
/*
 * A thread that was stopped in a system call is let go with PTRACE_SYSCALL: it makes the call again, stops before it,
 * is let go likewise, and sleeps. It stops once more before it comes back from the call, and before it takes a signal;
 * there is no other way out of the kernel. So as long as we don't let it go on from there it executes nothing of the
 * program.
 *
 * It can be detached from only while it stands still, so it would have to be woken again for that. But the kernel
 * detaches whoever is traced from a thread that ends (exit_ptrace), and wakes nobody for it. So all of it is done in a
 * thread of our own. If the tool is killed the same happens.
 */

#include "proc/lull.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "proc/force.h"

/* So many sleepers stand still at once while they are looked at. */
#define GROUP 8
/* While one is waited for that runs, others that were caught may come out. */
#define SLICE_NS 1000000ll
#define PAUSE_NS 20000
/* By so much our thread may sleep longer than it wants to; by 50 us if it doesn't say. */
#define SLACK_NS 1000ul

struct lull_run {
	const struct proc *proc;
	lull_work *work;
	void *ctx;
	struct uspl_err *err;
	pid_t tid; /* of our thread */
	int rc;
};

static void *run_in_thread(void *arg)
{
	struct lull_run *run = arg;
	struct lull lull = { 0 };

	run->tid = (pid_t)syscall(SYS_gettid);
	prctl(PR_SET_TIMERSLACK, SLACK_NS);
	run->rc = stop_prepare(&lull.stop, run->proc, run->err);
	if (!run->rc) {
		run->rc = run->work(&lull, run->ctx, run->err);
		stop_end(&lull.stop);
	}
	return NULL;
}

/* pthread_join comes back a little before the kernel has detached the thread from whom it has traced. */
static void await_end(pid_t tid)
{
	while (tid && syscall(SYS_tgkill, getpid(), tid, 0) == 0)
		sched_yield();
}

int lull_run(const struct proc *proc, lull_work *work, void *ctx, struct uspl_err *err)
{
	struct lull_run run = { .proc = proc, .work = work, .ctx = ctx, .err = err };
	pthread_t thread;
	sigset_t old;
	int errnum;

	/* The news of threads comes by SIGCHLD, which only the other one may take. */
	thread_guard(&old);
	errnum = pthread_create(&thread, NULL, run_in_thread, &run);
	if (!errnum) {
		pthread_join(thread, NULL);
		await_end(run.tid);
	}
	thread_unguard(&old);
	errno = errnum;
	return errnum ? uspl_fail_errno(err, "cannot make a thread") : run.rc;
}

/* One that has come out of its call goes on, and from here on runs. So does one that takes a signal. */
void lull_serve(struct lull *lull)
{
	struct thread *thread;

	vec_for_each (&lull->stop.threads, thread) {
		/* Those that stand still already do so for the caller. */
		if (thread->state == THREAD_STOPPED)
			continue;
		thread_poll(thread);
		if (thread->state != THREAD_STOPPED)
			continue;
		thread->slept = false;
		thread_resume(lull->stop.proc, thread);
	}
	lull->served_ns = clock_now_ns();
}

static int await_regs(struct lull *lull, struct thread *thread, int64_t deadline,
		      struct uspl_err *err)
{
	int rc = thread_wait(lull->stop.proc, thread, deadline, err);

	return rc || thread->state != THREAD_STOPPED
		       ? rc
		       : thread_read_regs(lull->stop.proc, thread, err);
}

static void serve_in_time(struct lull *lull)
{
	if (clock_now_ns() > lull->served_ns + SLICE_NS)
		lull_serve(lull);
}

/* Some that slept, while they are caught. */
struct group {
	struct lull *lull;
	struct thread *threads;
	size_t n;
	int64_t deadline;
};

/* Each stands still only until it has been looked at. */
static int look_at(const struct group *group,
		   bool (*may_stay)(void *ctx, const struct thread *thread), void *ctx,
		   struct uspl_err *err)
{
	const struct proc *proc = group->lull->stop.proc;
	int rc = 0;

	for (size_t i = 0; i < group->n; i++)
		if (group->threads[i].slept)
			thread_interrupt(&group->threads[i]);
	for (size_t i = 0; !rc && i < group->n; i++) {
		struct thread *thread = &group->threads[i];

		if (!thread->slept || thread->state != THREAD_ASKED)
			continue;
		rc = await_regs(group->lull, thread, group->deadline, err);
		thread->slept = !rc && thread->state == THREAD_STOPPED && may_stay(ctx, thread) &&
				thread_send_back(proc, thread);
		thread_resume(proc, thread);
		serve_in_time(group->lull);
	}
	return rc;
}

/* By the time that the last one has been looked at the first one is back at its call. */
static int let_in(const struct group *group, struct uspl_err *err)
{
	const struct proc *proc = group->lull->stop.proc;
	int rc = 0;

	for (size_t i = 0; !rc && i < group->n; i++) {
		struct thread *thread = &group->threads[i];

		if (!thread->slept || thread->state != THREAD_ASKED)
			continue;
		rc = thread_catch(proc, thread, group->deadline, err);
		thread->slept = thread->state == THREAD_CAUGHT;
		thread_resume(proc, thread);
		serve_in_time(group->lull);
	}
	return rc;
}

int lull_catch(struct lull *lull, bool (*may_stay)(void *ctx, const struct thread *thread),
	       void *ctx, int64_t deadline, struct uspl_err *err)
{
	struct thread *threads = lull->stop.threads.items;
	size_t n = lull->stop.threads.n;
	int rc = 0;

	/* Where code is written by way of a thread that stands still, none may be held that can't. */
	if (!force_is_free()) {
		for (size_t i = 0; i < n; i++)
			threads[i].slept = false;
		return 0;
	}
	for (size_t at = 0; !rc && at < n; at += GROUP) {
		const struct group group = { .lull = lull,
					     .threads = threads + at,
					     .n = n - at < GROUP ? n - at : GROUP,
					     .deadline = deadline };

		rc = look_at(&group, may_stay, ctx, err);
		if (!rc)
			rc = let_in(&group, err);
	}
	return rc;
}

/* Those that were asked. One that was caught and comes out now runs, and is asked, too. */
static int await_all(struct lull *lull, int64_t deadline, struct uspl_err *err)
{
	struct thread *thread;
	bool again = true;

	while (again) {
		again = false;
		lull_serve(lull);
		vec_for_each (&lull->stop.threads, thread)
			thread_interrupt(thread);
		vec_for_each (&lull->stop.threads, thread) {
			int64_t now = clock_now_ns(), slice = now + SLICE_NS;
			bool last = slice >= deadline;
			int rc;

			if (thread->state != THREAD_ASKED)
				continue;
			rc = thread_wait(lull->stop.proc, thread, last ? deadline : slice,
					 last ? err : NULL);
			if (rc && (last || rc != -USPL_E_UNSTOPPABLE))
				return rc;
			again = again || rc;
		}
	}
	return 0;
}

int lull_enter(struct lull *lull, int64_t deadline, struct uspl_err *err)
{
	int rc;

	lull->entered_ns = clock_now_ns();
	rc = await_all(lull, deadline, err);
	/* What is left to it are threads that have been born meanwhile. */
	return rc ? rc : stop_enter(&lull->stop, deadline, err);
}

void lull_leave(struct lull *lull)
{
	struct thread *thread;

	vec_for_each (&lull->stop.threads, thread)
		thread_resume(lull->stop.proc, thread);
	lull->left_ns = clock_now_ns();
	lull_serve(lull);
}

void lull_rest(struct lull *lull, int64_t ns)
{
	const struct timespec pause = { 0, PAUSE_NS };
	int64_t until = clock_now_ns() + ns;

	for (lull_serve(lull); clock_now_ns() < until; lull_serve(lull))
		nanosleep(&pause, NULL);
}
