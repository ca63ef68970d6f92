// SPDX-License-Identifier: GPL-3.0-or-later
// tracer_test.c - the end of a child disturbs nobody while the thread that has forked it is stopped

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"
#include "thread/held_sleepers.h"
#include "thread/tracer_thread.h"

#define SLEEPERS 4
#define PATIENCE_NS 20000000000ll

struct talk {
	volatile int ready, tids[SLEEPERS], eintr, parent, child, end, reaped, stop;
};

static struct talk *talk;

/* True once the condition holds. */
#define until(cond)                                                                                \
	({                                                                                         \
		int64_t until_ = clock_now_ns() + PATIENCE_NS;                                     \
		while (!(cond) && clock_now_ns() < until_)                                         \
			sched_yield();                                                             \
		(cond);                                                                            \
	})

static void *sleeper(void *number)
{
	int set = epoll_create1(0);
	struct epoll_event event;

	talk->tids[(long)number] = gettid();
	__atomic_add_fetch(&talk->ready, 1, __ATOMIC_SEQ_CST);
	while (epoll_wait(set, &event, 1, -1) < 0)
		__atomic_add_fetch(&talk->eintr, 1, __ATOMIC_SEQ_CST);
	return number;
}

/* A thread that has a child, one after the other. */
static void *parent(void *unused)
{
	int n = 0;

	talk->parent = gettid();
	while (!talk->stop) {
		pid_t pid = fork();

		if (!pid) {
			while (talk->end == n && getppid() != 1)
				sched_yield();
			_exit(0);
		}
		talk->child = pid;
		waitpid(pid, NULL, 0);
		talk->reaped = ++n;
	}
	exit(talk->eintr ? 1 : 0);
	return unused;
}

static void run_target(void)
{
	pthread_t thread;
	sigset_t child;

	alarm(60);
	for (long i = 0; i < SLEEPERS; i++)
		pthread_create(&thread, NULL, sleeper, (void *)i);
	pthread_create(&thread, NULL, parent, NULL);
	/* So that it's the others' to take. */
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &child, NULL);
	pause();
}

static char state_of(pid_t pid)
{
	struct proc proc = { .pid = pid };

	return task_state(&proc, pid);
}

static bool has_child(void)
{
	return until(talk->child && state_of(talk->child) != '?' && state_of(talk->child) != 'Z');
}

/* The child ends, and the kernel has told its parent. */
static bool end_child(bool parent_runs)
{
	int n = talk->end + 1;
	pid_t child = talk->child;

	talk->end = n;
	return parent_runs ? until(talk->reaped == n) : until(state_of(child) == 'Z');
}

/* They are in the call, or in it again. */
static bool all_sleep(const struct proc *proc)
{
	for (int i = 0; i < SLEEPERS; i++)
		if (!until(task_state(proc, talk->tids[i]) == 'S'))
			return false;
	return true;
}

static pid_t start_target(struct proc **ret)
{
	pid_t pid;

	memset(talk, 0, sizeof(*talk));
	pid = fork();
	if (!pid) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		run_target();
	}
	if (!until(talk->ready == SLEEPERS && talk->parent) || !has_child() ||
	    proc_open(pid, ret, NULL) != 0)
		return 0;
	return all_sleep(*ret) ? pid : 0;
}

static int finish_target(pid_t pid)
{
	int status = -1;

	talk->stop = 1;
	talk->end++;
	waitpid(pid, &status, 0);
	return status;
}

static int stop_parent(void *ctx, struct uspl_err *err)
{
	const struct proc *proc = ctx;
	pid_t parent = talk->parent;
	tid_vec one = { .items = &parent, .n = 1 };
	bool ended = false;
	struct stop stop;
	int rc;

	stop_begin(&stop, proc);
	rc = stop_some(&stop, &one, clock_now_ns() + STOP_LIMIT_NS, err);
	if (!rc)
		ended = end_child(false);
	stop_leave(&stop);
	return rc ? rc : ended ? 0 : -USPL_E_BUG;
}

/* The parent is the only thread that has to be stopped. */
static void test_some(void)
{
	struct proc *proc = NULL;
	struct uspl_err err = { 0 };
	pid_t pid = start_target(&proc);
	int rounds = 0;

	ok(pid, "threads sleep, and one has a child");
	while (rounds < 5 && stop_again(proc, stop_parent, proc, &err) == 0 &&
	       until(talk->reaped == talk->end) && has_child() && all_sleep(proc))
		rounds++;
	ok(rounds == 5, "children end while their parent stands still (%s)", err.msg);
	ok(finish_target(pid) == 0, "and wake nobody (%d calls were interrupted)", talk->eintr);
	proc_free(proc);
}

static bool all(void *ctx, const struct thread *thread)
{
	(void)ctx;
	(void)thread;
	return true;
}

/* Children end while nothing is stopped, and while those that run are. */
static int work_holding(struct held_sleepers *sleepers, void *ctx, struct uspl_err *err)
{
	int rc = held_sleepers_hold(sleepers, all, ctx, clock_now_ns() + STOP_LIMIT_NS, err);

	for (int i = 0; !rc && i < 3; i++) {
		if (!end_child(true) || !has_child())
			return -USPL_E_BUG;
		rc = held_sleepers_enter(sleepers, clock_now_ns() + STOP_LIMIT_NS, err);
		if (!rc && !end_child(false))
			rc = -USPL_E_BUG;
		held_sleepers_leave(sleepers);
		if (!rc && (!until(talk->reaped == talk->end) || !has_child()))
			rc = -USPL_E_BUG;
		held_sleepers_serve(sleepers);
	}
	return rc;
}

static void test_held_sleepers(void)
{
	struct proc *proc = NULL;
	struct uspl_err err = { 0 };
	pid_t pid = start_target(&proc);

	ok(pid && held_sleepers_run(proc, work_holding, NULL, &err) == 0,
	   "children end in a lull (%s)", err.msg);
	ok(finish_target(pid) == 0, "and wake nobody (%d calls were interrupted)", talk->eintr);
	proc_free(proc);
}

int main(void)
{
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	talk = mmap(NULL, sizeof(*talk), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	test_some();
	test_held_sleepers();
	return tap_done();
}
