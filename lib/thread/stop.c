// SPDX-License-Identifier: GPL-3.0-or-later
// stop.c - all threads of a process at a standstill, for as short as possible

#include "thread/stop.h"

#include <time.h>

#include "arch/regs.h"
#include "base/cancel.h"

/* How long at least to wait for a thread that was asked to stop and may go on at once. */
#define LAST_WAIT_NS 1000000000ll
/* And for one in uninterruptible sleep, before any thread is stopped. */
#define UNSTOPPABLE_NS 1000000000ll
/* How long at least stops that failed since a thread didn't stop are tried again, and the pause. */
#define AGAIN_NS 5000000000ll
#define AGAIN_PAUSE_NS 2000000
/* How often threads are looked at that were asked, and don't stop at once. */
#define LOOK_NS 5000000

/* A thread that was asked to stop, and did so only when the stop had been given up. */
struct late_thread {
	pid_t tid;
	int64_t by_ns; /* so much later than it was asked */
};

/* Those of one process, since a stop can't remember them for the next one. */
static struct {
	pid_t pid;
	VEC(struct late_thread) threads;
} late_before;

/*
 * The thread of that id, NULL if it isn't known. The kernel lists threads in the same order each
 * time, so the search goes on where the last one ended.
 */
static struct thread *find_thread(struct stop *stop, pid_t tid, size_t *cursor)
{
	for (size_t i = 0; i < stop->threads.n; i++) {
		size_t at = (*cursor + i) % stop->threads.n;

		if (stop->threads.items[at].tid != tid)
			continue;
		*cursor = at + 1;
		return &stop->threads.items[at];
	}
	return NULL;
}

static int add_thread(struct stop *stop, pid_t tid, struct uspl_err *err)
{
	struct thread *thread = vec_push(&stop->threads);
	int rc;

	if (!thread)
		return uspl_fail_nomem(err);
	thread->tid = tid;
	thread->timeouts = &stop->timeouts;
	reap_admit(true);
	rc = thread_seize(stop->proc, thread, err);
	reap_admit(false);
	return rc;
}

/* Attaches to those of a list that aren't known yet, with children or without. */
static int seize_listed(struct stop *stop, const tid_vec *tids, bool parents, size_t *found,
			struct uspl_err *err)
{
	size_t cursor = 0;
	const pid_t *tid;

	vec_for_each (tids, tid) {
		int rc;

		if (find_thread(stop, *tid, &cursor) ||
		    (!parents && task_has_children(stop->proc, *tid)))
			continue;
		rc = add_thread(stop, *tid, err);
		if (rc)
			return rc;
		stop->threads.items[stop->threads.n - 1].has_children = parents;
		*found += stop->threads.items[stop->threads.n - 1].state != THREAD_GONE;
	}
	return 0;
}

/*
 * Attaches to the threads that aren't known yet. *ret_new counts them. To those with children last:
 * from then on the children's ends wake others (task_has_children), which the tool notices only of
 * threads that it is attached to.
 */
static int seize_new(struct stop *stop, size_t *ret_new, struct uspl_err *err)
{
	auto_vec tid_vec tids = { 0 };
	size_t found = 0;
	int rc = tasks_list(stop->proc, &tids, err);

	if (rc)
		return rc;
	rc = seize_listed(stop, &tids, false, &found, err);
	if (rc)
		return rc;
	rc = seize_listed(stop, &tids, true, &found, err);
	if (rc)
		return rc;
	*ret_new = found;
	return 0;
}

static void note_late(const struct stop *stop, pid_t tid)
{
	int64_t by_ns = stop->entered_ns ? clock_now_ns() - stop->entered_ns : STOP_LIMIT_NS;
	struct late_thread *thread;

	if (late_before.pid != stop->proc->pid) {
		vec_release(&late_before.threads);
		late_before.pid = stop->proc->pid;
	}
	vec_for_each (&late_before.threads, thread)
		if (thread->tid == tid) {
			thread->by_ns = by_ns;
			return;
		}
	/* Out of memory: then it may be late again. */
	thread = vec_push(&late_before.threads);
	if (thread)
		*thread = (struct late_thread){ .tid = tid, .by_ns = by_ns };
}

/* True if a thread that was asked has stopped by now, or does so when its turn comes. */
static bool is_asked_about(const struct stop *stop)
{
	const struct thread *thread;

	vec_for_each (&stop->threads, thread)
		if (thread->state == THREAD_ASKED && thread_is_about(stop->proc, thread->tid))
			return true;
	return false;
}

/*
 * Lets those that were asked to stop go on when they have: else they would stop later, with no
 * tracer to let them go, and calls that they are in would end with EINTR. ends: the tracer does,
 * right after this.
 */
static void release_asked(struct stop *stop, int64_t until, bool is_late, bool ends)
{
	const struct timespec pause = { 0, LOOK_NS };
	int64_t at_last = clock_now_ns() + THREAD_END_NS;
	struct thread *thread;
	bool first = true;
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		int64_t now = clock_now_ns();

		stop->stuck = 0;
		vec_for_each (&stop->threads, thread) {
			if (thread->state != THREAD_ASKED)
				continue;
			if (thread_wait(stop->proc, thread, 0, NULL) != 0) {
				stop->stuck = thread->tid;
				continue;
			}
			thread_release(stop->proc, thread);
			/* Else the tool was late, and the thread stood already. */
			if (is_late && !first)
				note_late(stop, thread->tid);
		}
		first = false;
		if (!stop->stuck ||
		    (now >= until && !(ends && now < at_last && is_asked_about(stop))))
			return;
		sigtimedwait(&child, NULL, &pause);
		reap_now();
		if (cancel_pending() && until > now + LAST_WAIT_NS)
			until = now + LAST_WAIT_NS;
	}
}

/* Detaching needs a stopped thread. One that is merely seized is stopped for a moment here. */
static void abandon(struct stop *stop)
{
	int64_t until = proc_deadline(stop->proc, LAST_WAIT_NS);
	struct thread *thread;

	release_asked(stop, until, true, false);
	vec_for_each (&stop->threads, thread)
		thread_interrupt(thread);
	/* Those that the main thread leaves behind are waited for in the end. */
	release_asked(stop, until, false, !thread_can_leave_behind());
	vec_for_each (&stop->threads, thread)
		if (thread->state == THREAD_ASKED)
			thread_leave_behind(stop->proc, thread);
	vec_release(&stop->threads);
	timeouts_release(&stop->timeouts);
}

static void relax(struct stop *stop)
{
	reap_end(&stop->reaper);
	urgency_end(&stop->urgency);
	thread_unguard(&stop->old_mask);
}

void stop_begin(struct stop *stop, const struct proc *proc)
{
	*stop = (struct stop){ .proc = proc, .timeouts.proc = proc };
	/*
	 * From here on all threads wait for the tool: nothing may interrupt it, and on a busy
	 * machine nothing should run before it.
	 */
	thread_guard(&stop->old_mask);
	urgency_begin(&stop->urgency, tasks_count(proc));
	reap_begin(&stop->reaper, &stop->threads, proc->pid);
}

static void note_timeouts(struct stop *stop)
{
	const struct thread *thread;
	auto_vec tid_vec tids = { 0 };
	pid_t *tid;

	/* Out of memory: then less is known. */
	vec_for_each (&stop->threads, thread)
		if (thread->state == THREAD_SEIZED && (tid = vec_push(&tids)))
			*tid = thread->tid;
	timeouts_note(&stop->timeouts, tids.items, tids.n);
}

int stop_attach(struct stop *stop, const struct proc *proc, struct uspl_err *err)
{
	int64_t deadline = proc_deadline(proc, UNSTOPPABLE_NS);
	auto_vec tid_vec tids = { 0 };
	struct thread *thread;
	size_t found;
	int rc;

	stop_begin(stop, proc);
	rc = proc_check_current(proc, proc_task(proc), err);
	if (!rc)
		rc = tasks_list(proc, &tids, err);
	/* No thread should have to stand still for one that can't be stopped. */
	for (size_t i = 0; i < tids.n && !rc; i++)
		rc = thread_require_stoppable(proc, tids.items[i], deadline, err);
	if (rc) {
		relax(stop);
		return rc;
	}
	do {
		rc = seize_new(stop, &found, err);
	} while (!rc && found);
	if (rc) {
		abandon(stop);
		relax(stop);
		return rc;
	}
	note_timeouts(stop);
	/* Last, so that it is still true as a rule; else a thread stands still for longer. */
	vec_for_each (&stop->threads, thread)
		thread->slept = !thread->has_children && task_sleeps(stop->proc, thread->tid);
	return 0;
}

int stop_late(struct stop *stop, struct uspl_err *err)
{
	int64_t until = proc_deadline(stop->proc, STOP_LIMIT_NS);
	const struct late_thread *item;
	size_t cursor = 0, left;

	if (late_before.pid != stop->proc->pid)
		return 0;
	vec_for_each (&late_before.threads, item) {
		struct thread *thread = find_thread(stop, item->tid, &cursor);

		if (thread)
			thread_interrupt(thread);
	}
	do {
		left = 0;
		vec_for_each (&late_before.threads, item) {
			struct thread *thread = find_thread(stop, item->tid, &cursor);
			int64_t now = clock_now_ns();
			int rc;

			if (!thread || thread->state != THREAD_ASKED)
				continue;
			rc = thread_wait(stop->proc, thread, now + LOOK_NS,
					 now >= until ? err : NULL);
			if (rc && now >= until)
				return rc;
			left += rc != 0;
			if (rc || thread->state != THREAD_STOPPED)
				continue;
			rc = thread_read_regs(stop->proc, thread, err);
			if (rc)
				return rc;
			if (!stop->entered_ns)
				stop->entered_ns = now;
			if (until > now + item->by_ns)
				until = now + item->by_ns;
		}
	} while (left);
	return 0;
}

int stop_prepare(struct stop *stop, const struct proc *proc, struct uspl_err *err)
{
	int rc = stop_attach(stop, proc, err);

	if (rc)
		return rc;
	rc = stop_late(stop, err);
	if (rc)
		stop_leave(stop);
	return rc;
}

void stop_ask(struct stop *stop, bool only_slept)
{
	struct thread *thread;

	vec_for_each (&stop->threads, thread)
		if (thread->beside && !thread->has_children)
			thread_interrupt(thread);
	vec_for_each (&stop->threads, thread)
		if (!thread->has_children && (!only_slept || thread->slept))
			thread_interrupt(thread);
	vec_for_each (&stop->threads, thread)
		if (thread->has_children && !only_slept)
			thread_interrupt(thread);
}

/*
 * Asks the seized threads to stop, all or only those that slept, and waits for each by its own id
 * (waiting for any of them would be quadratic).
 */
static int halt(struct stop *stop, bool only_slept, int64_t deadline, struct uspl_err *err)
{
	struct thread *thread;
	int rc = 0;

	if (!stop->entered_ns)
		stop->entered_ns = clock_now_ns();
	stop_ask(stop, only_slept);
	vec_for_each (&stop->threads, thread) {
		if (only_slept && !thread->slept)
			continue;
		if (thread->state == THREAD_ASKED) {
			rc = thread_wait(stop->proc, thread, deadline, err);
			if (rc)
				return rc;
		}
		if (thread->state == THREAD_STOPPED && !thread->regs_valid) {
			rc = thread_read_regs(stop->proc, thread, err);
			if (rc)
				return rc;
		}
	}
	return 0;
}

int stop_sleepers(struct stop *stop, int64_t deadline, struct uspl_err *err)
{
	return halt(stop, true, deadline, err);
}

/*
 * True if the known threads are all that there are: each of them is listed, as one that dies is
 * until the tool has waited for it, and the list is no longer. (A thread that stands still dies
 * without the tool's notice only with the whole process, or by exec.) To read the list takes ten
 * times as long as to ask for its length.
 */
static bool knows_all(const struct stop *stop)
{
	const struct thread *thread;
	size_t n = 0;

	vec_for_each (&stop->threads, thread)
		n += thread->state != THREAD_GONE;
	return n && n == tasks_count(stop->proc);
}

int stop_enter(struct stop *stop, int64_t deadline, struct uspl_err *err)
{
	size_t found;
	int rc = stop_sleepers(stop, deadline, err);

	stop->halted_ns = clock_now_ns();
	do {
		if (!rc)
			rc = halt(stop, false, deadline, err);
		found = 0;
		if (!rc && !knows_all(stop))
			rc = seize_new(stop, &found, err);
		if (!rc && found && clock_now_ns() > deadline)
			rc = uspl_fail(err, USPL_E_UNSTOPPABLE,
				       "pid %d makes threads faster than they can be stopped",
				       stop->proc->pid);
	} while (!rc && found);
	return rc;
}

/*
 * If one of the threads has children, or may have by the time that it stops: attaches to all
 * others, which stand still, too, for as long as it does (task_has_children). One that runs may be
 * in the middle of fork(2), which an asked thread finishes. *ret: others have come.
 */
static int add_others(struct stop *stop, bool *ret, struct uspl_err *err)
{
	bool forks = task_reaps(stop->proc), parents = false;
	size_t n = stop->threads.n, found;
	struct thread *thread;
	int rc;

	*ret = false;
	vec_for_each (&stop->threads, thread) {
		thread->has_children = task_has_children(stop->proc, thread->tid);
		parents |= thread->has_children || (forks && thread->state == THREAD_SEIZED &&
						    !task_sleeps(stop->proc, thread->tid));
	}
	if (!parents || stop->has_others)
		return 0;
	rc = seize_new(stop, &found, err);
	if (rc)
		return rc;
	for (size_t i = n; i < stop->threads.n; i++)
		stop->threads.items[i].beside = true;
	if (!stop->entered_ns)
		note_timeouts(stop);
	stop->has_others = *ret = true;
	return 0;
}

int stop_some(struct stop *stop, const tid_vec *tids, int64_t deadline, struct uspl_err *err)
{
	const pid_t *tid;
	size_t cursor = 0;
	int64_t began;
	bool others;
	int rc = 0;

	/* While others stand still there is no time for that. */
	if (!stop->entered_ns)
		timeouts_note(&stop->timeouts, tids->items, tids->n);
	vec_for_each (tids, tid) {
		if (find_thread(stop, *tid, &cursor))
			continue;
		rc = add_thread(stop, *tid, err);
		if (rc)
			return rc;
	}
	rc = add_others(stop, &others, err);
	if (rc)
		return rc;
	began = clock_now_ns();
	rc = stop->entered_ns ? 0 : stop_late(stop, err);
	if (rc)
		return rc;
	deadline += clock_now_ns() - began;
	rc = halt(stop, false, deadline, err);
	if (rc)
		return rc;
	/* One may have forked before it stopped. */
	rc = add_others(stop, &others, err);
	if (rc || !others)
		return rc;
	return halt(stop, false, deadline, err);
}

void stop_let_go(struct stop *stop, struct thread *thread)
{
	stop->n_threads += thread->state == THREAD_STOPPED;
	thread_release(stop->proc, thread);
}

bool stop_is_last(const struct thread *thread)
{
	return !thread->has_children && thread->regs_valid && regs_will_restart(&thread->regs);
}

void stop_go(struct stop *stop)
{
	struct thread *thread;

	vec_for_each (&stop->threads, thread)
		if (thread->has_children)
			stop_let_go(stop, thread);
	for (size_t i = stop->threads.n; i--;)
		if (!stop_is_last(&stop->threads.items[i]))
			stop_let_go(stop, &stop->threads.items[i]);
	for (size_t i = stop->threads.n; i--;)
		stop_let_go(stop, &stop->threads.items[i]);
	stop->left_ns = clock_now_ns();
}

void stop_leave(struct stop *stop)
{
	stop_go(stop);
	abandon(stop);
	relax(stop);
}

void stop_end(struct stop *stop)
{
	struct thread *thread;

	stop_go(stop);
	/* A thread that leaves its call stops once more, for that to be mended. */
	vec_for_each (&stop->threads, thread)
		if (thread->state == THREAD_SEIZED && thread->leaving)
			thread->state = THREAD_ASKED;
	release_asked(stop, proc_deadline(stop->proc, LAST_WAIT_NS), true, true);
	vec_release(&stop->threads);
	timeouts_release(&stop->timeouts);
	relax(stop);
}

int stop_again(const struct proc *proc, stop_attempt *attempt, void *ctx, struct uspl_err *err)
{
	const struct timespec pause = { 0, AGAIN_PAUSE_NS };
	int64_t deadline = proc_deadline(proc, AGAIN_NS);

	for (;;) {
		bool late = clock_now_ns() >= deadline;
		int rc = attempt(ctx, err);

		if (rc != -USPL_E_UNSTOPPABLE || late)
			return rc;
		rc = cancel_check(err);
		if (rc)
			return rc;
		nanosleep(&pause, NULL);
	}
}
