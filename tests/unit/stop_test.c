// SPDX-License-Identifier: GPL-3.0-or-later
// stop_test.c - processes that are hard to stop, and what others notice of a stop

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/stop.h"
#include "tap.h"

#define MS 1000000ll
#define MANY 1024

struct talk {
	int ready, births, children, rounds;
};

static volatile struct talk *shared;

static void *sleep_forever(void *arg)
{
	pause();
	return arg;
}

static void body_many(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	int n = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	while (n < MANY - 1 && pthread_create(&thread, &attr, sleep_forever, NULL) == 0)
		n++;
	shared->births = n;
	shared->ready = 1;
	pause();
}

/* Threads that do nothing but make way for the next one. */
static void *live_short(void *arg)
{
	shared->births++;
	return arg;
}

static void *breed(void *arg)
{
	pthread_t thread;

	for (;;)
		if (pthread_create(&thread, NULL, live_short, NULL) == 0)
			pthread_join(thread, NULL);
	return arg;
}

static void body_storm(void)
{
	pthread_t thread;

	for (int i = 0; i < 2; i++)
		pthread_create(&thread, NULL, breed, NULL);
	shared->ready = 1;
	for (;;)
		shared->rounds++;
}

/* Sleeps uninterruptibly until its child ends. */
static void body_vfork(void)
{
	pid_t pid;

	shared->ready = 1;
	pid = vfork();
	if (!pid) {
		for (int i = 0; i < 50; i++)
			usleep(100000);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	shared->children = 1;
	pause();
}

static void body_signals(void)
{
	signal(SIGUSR1, SIG_IGN);
	shared->ready = 1;
	for (;;)
		kill(getpid(), SIGUSR1);
}

static void body_spin(void)
{
	shared->ready = 1;
	for (;;)
		shared->rounds++;
}

static pid_t start(void (*body)(void))
{
	pid_t pid;

	*shared = (struct talk){ 0 };
	pid = fork();
	if (!pid) {
		alarm(60);
		body();
		_exit(0);
	}
	while (!shared->ready)
		sched_yield();
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static size_t count_stopped(const struct stop *stop)
{
	const struct thread *thread;
	size_t n = 0;

	vec_for_each (&stop->threads, thread)
		n += thread->state == THREAD_STOPPED;
	return n;
}

/* One stop; returns its code, and how many threads stood still. */
static int stop_once(pid_t pid, int64_t limit_ns, size_t *ret_n, struct uspl_err *err)
{
	auto_proc struct proc *proc = NULL;
	struct stop stop;
	int rc = proc_open(pid, &proc, err);

	if (!rc)
		rc = stop_prepare(&stop, proc, err);
	if (rc)
		return rc;
	rc = stop_enter(&stop, clock_now_ns() + limit_ns, err);
	*ret_n = count_stopped(&stop);
	stop_leave(&stop);
	return rc;
}

static void test_many(void)
{
	pid_t pid = start(body_many);
	struct uspl_err err = { 0 };
	size_t n = 0;
	int rc = stop_once(pid, 20000 * MS, &n, &err);

	ok(rc == 0 && n == (size_t)shared->births + 1, "%zu threads stand still (%s)", n, err.msg);
	end(pid);
}

static void test_storm(void)
{
	pid_t pid = start(body_storm);
	struct uspl_err err = { 0 };
	int births, failed = 0;
	size_t n = 0;

	for (int i = 0; i < 20; i++)
		failed += stop_once(pid, 5000 * MS, &n, &err) != 0;
	ok(!failed, "a process that makes threads all the time is stopped 20 times (%s)", err.msg);
	births = shared->births;
	while (shared->births < births + 20 && kill(pid, 0) == 0)
		usleep(1000);
	ok(shared->births >= births + 20, "and goes on making them");
	end(pid);
}

/* A tool, in a process of its own, since what doesn't stop is let go when the tool ends. */
static pid_t start_tool(pid_t pid, int times, int64_t limit_ns)
{
	pid_t tool = fork();
	size_t n = 0;
	int rc = 0;

	if (tool)
		return tool;
	for (int i = 0; !rc && i < times; i++)
		rc = stop_once(pid, limit_ns, &n, NULL);
	_exit(-rc);
}

/* The tool's exit status: 0, or the code that it failed with. */
static int wait_for_tool(pid_t tool)
{
	int status;

	while (waitpid(tool, &status, 0) != tool)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_uninterruptible(void)
{
	pid_t pid = start(body_vfork);
	int64_t began;
	int code;

	usleep(100000);
	began = clock_now_ns();
	code = wait_for_tool(start_tool(pid, 1, 100 * MS));
	ok(code == USPL_E_UNSTOPPABLE, "who waits in vfork can't be stopped (%d)", code);
	ok(!shared->children, "and that is known before it comes back");
	while (!shared->children && clock_now_ns() - began < 20000 * MS)
		usleep(1000);
	ok(shared->children, "it goes on by itself");
	end(pid);
}

static void test_signals(void)
{
	pid_t pid = start(body_signals);
	struct uspl_err err = { 0 };
	size_t n = 0;
	int failed = 0;

	for (int i = 0; i < 20; i++)
		failed += stop_once(pid, 5000 * MS, &n, &err) != 0 || n != 1;
	ok(!failed, "a process that gets signals all the time is stopped 20 times (%s)", err.msg);
	end(pid);
}

static volatile sig_atomic_t notified;

static void on_child(int sig)
{
	(void)sig;
	notified++;
}

static void test_parent(void)
{
	pid_t pid = start(body_spin);
	int code, status;

	signal(SIGCHLD, on_child);
	notified = 0;
	code = wait_for_tool(start_tool(pid, 10, 5000 * MS));
	ok(code == 0, "another process stops our child (%d)", code);
	ok(notified == 1, "the parent gets no signal but for the tool's end (%d)", (int)notified);
	ok(waitpid(pid, &status, WNOHANG | WUNTRACED | WCONTINUED) == 0,
	   "and waitpid has nothing to tell of the child");
	signal(SIGCHLD, SIG_DFL);
	end(pid);
}

int main(void)
{
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	test_many();
	test_storm();
	test_uninterruptible();
	test_signals();
	test_parent();
	return tap_done();
}
