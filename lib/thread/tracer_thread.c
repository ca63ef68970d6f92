// SPDX-License-Identifier: GPL-3.0-or-later
// tracer_thread.c - a thread of the tool's that traces, and detaches by ending

#include "thread/tracer_thread.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"

/* By so much the tracing thread may sleep longer than it wants to; by 50 us if it doesn't say. */
#define SLACK_NS 1000ul
/* How long threads are waited for that did not stop for the main thread. */
#define LEFT_NS 1000000000ll
/* How long threads that come out of their calls may take in the end. */
#define SETTLE_NS 100000000ll
#define PAUSE_NS 20000
#define CHILD_BIT (1ull << (SIGCHLD - 1))

struct tracer {
	tracer_work *work;
	void *ctx;
	struct uspl_err *err;
	pid_t tid; /* of the tracing thread */
	int rc;
};

static void *run_in_thread(void *arg)
{
	struct tracer *tracer = arg;

	tracer->tid = (pid_t)syscall(SYS_gettid);
	prctl(PR_SET_TIMERSLACK, SLACK_NS);
	tracer->rc = tracer->work(tracer->ctx, tracer->err);
	return NULL;
}

int tracer_run(tracer_work *work, void *ctx, struct uspl_err *err)
{
	struct tracer tracer = { .work = work, .ctx = ctx, .err = err };
	pthread_t thread;
	sigset_t old;
	int errnum;

	/* The news of threads comes by SIGCHLD, which only the tracing thread may take. */
	thread_guard(&old);
	/* What this thread has left behind the other one couldn't attach to. */
	thread_fetch_left(clock_now_ns() + LEFT_NS);
	errnum = pthread_create(&thread, NULL, run_in_thread, &tracer);
	if (!errnum) {
		pthread_join(thread, NULL);
		/* It comes back a little before the kernel has detached the thread's tracees. */
		while (tracer.tid && syscall(SYS_tgkill, getpid(), tracer.tid, 0) == 0)
			sched_yield();
	}
	thread_unguard(&old);
	errno = errnum;
	return errnum ? uspl_fail_errno(err, "cannot make a thread") : tracer.rc;
}

void tracer_serve(const struct proc *proc, thread_vec *threads)
{
	struct thread *thread;

	vec_for_each (threads, thread) {
		/* Those that stand still already do so for the caller. */
		if (thread->state == THREAD_STOPPED)
			continue;
		thread_poll(thread);
		if (thread->state != THREAD_STOPPED)
			continue;
		thread->slept = false;
		if (!thread_leave_call(proc, thread))
			thread_resume(proc, thread);
	}
}

/* Those that tracer_run_beside looks after: one process at a time. */
static struct {
	const struct proc *proc;
	thread_vec threads;
} looked_after;

/*
 * A thread that is woken for a signal which another has taken by then goes through the kernel's
 * search for signals without finding one, and comes out with EINTR. In that search it stops if it
 * has been asked to.
 */
static void ask_woken(const struct proc *proc, thread_vec *threads)
{
	struct thread *thread;

	vec_for_each (threads, thread)
		if (thread->state == THREAD_SEIZED && thread->slept && !thread->leaving &&
		    task_state(proc, thread->tid) == 'R')
			thread->leaving = ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL) == 0;
}

void tracer_shield(const struct proc *proc, thread_vec *threads)
{
	if (task_pending_signals(proc) & CHILD_BIT)
		ask_woken(proc, threads);
}

void tracer_shield_beside(void)
{
	if (looked_after.threads.n)
		tracer_shield(looked_after.proc, &looked_after.threads);
}

/* True if it is on its way out of its call and hasn't stopped there yet, or stands there. */
static bool is_coming_out(const struct proc *proc, const struct thread *thread)
{
	char state;

	if (thread->state != THREAD_SEIZED && thread->state != THREAD_HELD)
		return false;
	state = task_state(proc, thread->tid);
	return thread->leaving || state == 't' || (state == 'R' && thread->slept);
}

/* True if one is, or has yet to be woken for that. */
static bool comes_out(const struct proc *proc, const thread_vec *threads)
{
	const struct thread *thread;

	if (threads->n && task_pending_signals(proc) & CHILD_BIT)
		return true;
	vec_for_each (threads, thread)
		if (is_coming_out(proc, thread))
			return true;
	return false;
}

void tracer_settle(const struct proc *proc, thread_vec *threads)
{
	const struct timespec pause = { 0, PAUSE_NS };
	int64_t until = clock_now_ns() + SETTLE_NS;
	struct thread *thread;
	sigset_t child;
	int quiet = 0;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	vec_for_each (threads, thread)
		if (thread->has_children)
			thread_release(proc, thread);
	ask_woken(proc, threads);
	/* Twice: a thread that has just taken the signal, and not stopped yet, doesn't show. */
	for (; quiet < 2 && clock_now_ns() < until; sigtimedwait(&child, NULL, &pause)) {
		tracer_serve(proc, threads);
		quiet = comes_out(proc, threads) ? 0 : quiet + 1;
	}
}

/* Work, and those that sleep beside it. */
struct beside {
	const struct proc *proc;
	tracer_work *work;
	void *ctx;
	tid_vec tids;
};

/*
 * True if it sleeps in a call that a signal may end with EINTR though there is no handler, or runs
 * and may come to such a call.
 */
static bool may_be_woken(const struct proc *proc, pid_t tid, bool *ret_sleeps)
{
	auto_buf struct buf text = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", proc->pid, tid);
	if (file_read(path, &text, NULL) != 0)
		return false;
	*ret_sleeps = strncmp(buf_str(&text), "running", 7) != 0;
	return (!*ret_sleeps || syscall_answers_eintr(strtol(buf_str(&text), NULL, 0))) &&
	       !(task_blocked_signals(proc, tid) & CHILD_BIT) && !task_has_children(proc, tid);
}

static int work_beside(void *ctx, struct uspl_err *err)
{
	const struct beside *beside = ctx;
	const pid_t *tid;
	int rc;

	looked_after.proc = beside->proc;
	/* Out of memory, or a thread that can't be attached to: then one less is looked after. */
	vec_for_each (&beside->tids, tid) {
		bool sleeps;
		struct thread *thread;

		if (!may_be_woken(beside->proc, *tid, &sleeps) ||
		    !(thread = vec_push(&looked_after.threads)))
			continue;
		thread->tid = *tid;
		thread->slept = thread_seize(beside->proc, thread, NULL) == 0 && sleeps;
	}
	rc = beside->work(beside->ctx, err);
	tracer_settle(beside->proc, &looked_after.threads);
	vec_release(&looked_after.threads);
	return rc;
}

/* True if it has children, or has waited for some: their page faults are counted (proc(5)). */
static bool may_fork(const struct proc *proc, const tid_vec *tids)
{
	enum { STAT_CMINFLT = 11 };
	auto_buf struct buf text = { 0 };
	const char *faults = task_stat(proc, proc_task(proc), STAT_CMINFLT, &text);
	const pid_t *tid;

	if (faults && strtoul(faults, NULL, 10))
		return true;
	vec_for_each (tids, tid)
		if (task_has_children(proc, *tid))
			return true;
	return false;
}

int tracer_run_beside(const struct proc *proc, tracer_work *work, void *ctx, struct uspl_err *err)
{
	struct beside beside = { .proc = proc, .work = work, .ctx = ctx };
	int rc = tasks_list(proc, &beside.tids, err);

	if (rc)
		return rc;
	rc = beside.tids.n > 1 && may_fork(proc, &beside.tids)
		     ? tracer_run(work_beside, &beside, err)
		     : work(ctx, err);
	vec_release(&beside.tids);
	return rc;
}
