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
/* How long threads that come out of their calls may take in the end, unless they want to run. */
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

/* True once it sleeps in the call that it was held in, or isn't held any more. */
static bool is_settled(const struct proc *proc, const struct thread *thread, bool late)
{
	char state;

	if (thread->state != THREAD_SEIZED && thread->state != THREAD_HELD)
		return true;
	state = task_state(proc, thread->tid);
	if (late && state != 'R')
		return true;
	return thread->state == THREAD_HELD && state == 'S';
}

void tracer_settle(const struct proc *proc, thread_vec *threads)
{
	const struct timespec pause = { 0, PAUSE_NS };
	int64_t late = clock_now_ns() + SETTLE_NS, until = proc_deadline(proc, SETTLE_NS);
	struct thread *thread;
	sigset_t child;
	int quiet = 0;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	/* Twice: a thread that has just been woken, and hasn't stopped yet, doesn't show. */
	for (; quiet < 2 && clock_now_ns() < until; sigtimedwait(&child, NULL, &pause)) {
		bool settled = true;

		vec_for_each (threads, thread) {
			thread_poll(thread);
			if (thread->state == THREAD_STOPPED && !thread_leave_call(proc, thread))
				thread_release(proc, thread);
			settled = settled && is_settled(proc, thread, clock_now_ns() > late);
		}
		quiet = settled && !(task_pending_signals(proc) & CHILD_BIT) ? quiet + 1 : 0;
	}
}
