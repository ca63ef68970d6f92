// SPDX-License-Identifier: GPL-3.0-or-later
// stop_test.c - processes that are hard to stop, and what others notice of a stop

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/file.h"
#include "tap.h"
#include "thread/stop.h"
#include "thread/tracer_thread.h"

#define MS 1000000ll
#define MANY 1024
/* So many threads want the processor that starved ones have a hundredth of. */
#define HOGS 2

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
		for (int i = 0; i < 30; i++)
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

/* Calls exec when it is told to, with another thread. */
static void body_exec(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, sleep_forever, NULL) == 0)
		shared->ready = 1;
	while (!shared->rounds)
		sched_yield();
	execl("/bin/sleep", "sleep", "60", NULL);
}

static void *spin(void *arg)
{
	body_spin();
	return arg;
}

/* The first thread sleeps. */
static void body_both(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, spin, NULL);
	pause();
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

struct once {
	pid_t pid;
	int attempts;
};

static int attempt_once(void *ctx, struct uspl_err *err)
{
	struct once *once = ctx;
	size_t n;

	once->attempts++;
	return stop_once(once->pid, 100 * MS, &n, err);
}

static int fail_at_once(void *ctx, struct uspl_err *err)
{
	++*(int *)ctx;
	return uspl_fail(err, USPL_E_BUSY, "no");
}

static void test_uninterruptible(void)
{
	pid_t pid = start(body_vfork);
	auto_proc struct proc *proc = NULL;
	struct uspl_err err = { 0 };
	struct once once = { .pid = pid };
	int64_t began;
	int attempts = 0;
	int code;

	usleep(100000);
	began = clock_now_ns();
	code = wait_for_tool(start_tool(pid, 1, 100 * MS));
	ok(proc_open(pid, &proc, &err) == 0 && code == USPL_E_UNSTOPPABLE,
	   "who waits in vfork can't be stopped (%d)", code);
	ok(!shared->children, "and that is known before it comes back");
	ok(stop_again(proc, attempt_once, &once, &err) == 0 && once.attempts > 1,
	   "tried again, it is stopped when it has come back (%s)", err.msg);
	ok(stop_again(proc, fail_at_once, &attempts, &err) == -USPL_E_BUSY && attempts == 1,
	   "another failure is one at once");
	while (!shared->children && clock_now_ns() - began < 20000 * MS)
		usleep(1000);
	ok(shared->children, "it goes on by itself");
	end(pid);
}

/* In a thread of the tool's. */
static int stop_main(void *ctx, struct uspl_err *err)
{
	const struct proc *proc = ctx;
	auto_vec tid_vec one = { 0 };
	struct stop stop;
	int rc;

	*vec_push(&one) = proc->pid;
	stop_begin(&stop, proc);
	rc = stop_some(&stop, &one, clock_now_ns() + 100 * MS, err);
	stop_leave(&stop);
	return rc;
}

/* The main thread of the tool stays attached to it; another one has to come to it all the same. */
static void test_left_behind(void)
{
	pid_t pid = start(body_vfork);
	auto_proc struct proc *proc = NULL;
	struct uspl_err err = { 0 };
	int64_t began = clock_now_ns();
	int rc = -1;

	usleep(100000);
	ok(proc_open(pid, &proc, &err) == 0 && stop_main(proc, &err) == -USPL_E_UNSTOPPABLE,
	   "a thread in vfork doesn't stop");
	ok(tracer_run(stop_main, proc, &err) == -USPL_E_UNSTOPPABLE,
	   "nor for another thread of the tool: %s", err.msg);
	/* It stands still when it comes back, until the main thread asks for it. */
	while (rc && clock_now_ns() - began < 20000 * MS)
		rc = tracer_run(stop_main, proc, &err);
	ok(!rc, "when it has come back it does");
	while (!shared->children && clock_now_ns() - began < 20000 * MS)
		usleep(1000);
	ok(shared->children, "and goes on");
	end(pid);
}

/* Waits for events that never come, and counts the waits that end. */
static void body_events(void)
{
	int events = epoll_create1(0);
	struct epoll_event event;

	shared->ready = 1;
	for (;;) {
		(void)!epoll_wait(events, &event, 1, -1);
		shared->rounds++;
	}
}

/* A tool that is told to end, and has asked the thread to stop; exits: as it should. */
static void ask_and_end(pid_t pid, bool exits)
{
	struct thread thread = { .tid = pid };
	auto_proc struct proc *proc = NULL;
	int status;
	pid_t tool = fork();

	if (!tool) {
		if (proc_open(pid, &proc, NULL) || thread_seize(proc, &thread, NULL))
			_exit(1);
		cancel_catch();
		raise(SIGTERM);
		thread_interrupt(&thread);
		thread_leave_behind(proc, &thread);
		if (exits)
			exit(0);
		_exit(0);
	}
	ok(waitpid(tool, &status, 0) == tool && !status, "a thread is asked to stop, and left");
	usleep(50000);
}

static void test_left_at_the_end(void)
{
	pid_t pid = start(body_events);

	usleep(50000);
	shared->rounds = 0;
	ask_and_end(pid, true);
	ok(!shared->rounds, "its call goes on, since the tool waits for it as it ends");
	ask_and_end(pid, false);
	ok(shared->rounds == 1, "a tool that is killed instead has it ended with EINTR");
	end(pid);
}

/* True once the main thread waits in the kernel until the others are gone. */
static bool waits_in_exec(const struct proc *proc)
{
	int64_t deadline = clock_now_ns() + 5000 * MS;
	bool waits = false;

	while (!waits && clock_now_ns() < deadline) {
		auto_buf struct buf text = { 0 };
		const char *state = task_stat(proc, proc->pid, 3, &text);

		waits = state && *state == 'D';
	}
	return waits;
}

/*
 * A tool that holds the other thread while the main one calls exec; then it attaches to that, too.
 */
static int hold_and_attach(pid_t pid)
{
	auto_proc struct proc *proc = NULL;
	tid_vec tids = { 0 }, one = { 0 };
	struct stop stop;
	int rc = proc_open(pid, &proc, NULL);

	if (rc || tasks_list(proc, &tids, NULL) != 0 || tids.n != 2)
		return 100;
	*vec_push(&one) = tids.items[tids.items[0] == pid];
	stop_begin(&stop, proc);
	rc = stop_some(&stop, &one, clock_now_ns() + 5000 * MS, NULL);
	shared->rounds = 1;
	if (!rc && !waits_in_exec(proc))
		rc = -101;
	one.items[0] = pid;
	if (!rc)
		rc = stop_some(&stop, &one, clock_now_ns() + 5000 * MS, NULL);
	stop_leave(&stop);
	vec_release(&one);
	vec_release(&tids);
	return -rc;
}

/* True if it is the other program by now, and sleeps. */
static bool is_asleep(pid_t pid)
{
	auto_buf struct buf text = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	return file_read(path, &text, NULL) == 0 && strstr(buf_str(&text), "(sleep) S");
}

static void test_exec(void)
{
	pid_t pid = start(body_exec), tool = fork();
	int64_t deadline = clock_now_ns() + 10000 * MS;
	int status = 0;

	if (!tool)
		_exit(hold_and_attach(pid));
	while (waitpid(tool, &status, WNOHANG) != tool && clock_now_ns() < deadline)
		usleep(1000);
	ok(WIFEXITED(status) && !WEXITSTATUS(status) && clock_now_ns() < deadline,
	   "exec, and who attaches meanwhile, don't wait for each other (%x)", (unsigned)status);
	kill(tool, SIGKILL);
	while (!is_asleep(pid) && clock_now_ns() < deadline + 5000 * MS)
		usleep(1000);
	ok(is_asleep(pid), "the new program runs, and nobody holds it");
	end(pid);
}

static bool is_traced_stop(const struct proc *proc, pid_t tid)
{
	auto_buf struct buf text = { 0 };
	const char *state = task_stat(proc, tid, 3, &text);

	return state && *state == 't';
}

/* A thread has stopped, and nobody has waited for it yet, when the dead are asked for. */
static void test_stops_stay(void)
{
	pid_t pid = start(body_exec);
	auto_proc struct proc *proc = NULL;
	int64_t deadline = clock_now_ns() + 5000 * MS;
	struct thread *thread;
	struct stop stop;
	int rc = proc_open(pid, &proc, NULL), waited = 0;

	if (!rc)
		rc = stop_prepare(&stop, proc, NULL);
	ok(!rc && stop.threads.n == 2, "two threads are attached to");
	if (rc)
		return;
	vec_for_each (&stop.threads, thread) {
		thread_interrupt(thread);
		while (!is_traced_stop(proc, thread->tid) && clock_now_ns() < deadline)
			sched_yield();
	}
	reap_now();
	vec_for_each (&stop.threads, thread)
		waited += thread_wait(proc, thread, deadline, NULL) == 0;
	ok(waited == 2, "asking for the dead leaves the news of a stop alone");
	stop_leave(&stop);
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

/* True once the spinning thread has gone round again, within ten seconds. */
static bool goes_round(void)
{
	int from = shared->rounds;
	int64_t deadline = clock_now_ns() + 10000 * MS;

	while (shared->rounds == from)
		if (clock_now_ns() > deadline)
			return false;
	return true;
}

/* Sleepers are stopped first, and go on last. */
static void test_order(void)
{
	pid_t pid = start(body_both);
	struct uspl_err err = { 0 };
	auto_proc struct proc *proc = NULL;
	struct thread *sleeper, *spinner;
	struct stop stop;
	int rc;

	while (!task_sleeps(&(struct proc){ .pid = pid }, pid))
		sched_yield();
	rc = proc_open(pid, &proc, &err);
	if (!rc)
		rc = stop_prepare(&stop, proc, &err);
	ok(rc == 0 && stop.threads.n == 2, "two threads are attached to (%s)", err.msg);
	if (rc) {
		end(pid);
		return;
	}
	sleeper = &stop.threads.items[0];
	spinner = &stop.threads.items[1];
	rc = stop_sleepers(&stop, clock_now_ns() + 5000 * MS, &err);
	ok(rc == 0 && sleeper->state == THREAD_STOPPED && sleeper->regs_valid &&
		   spinner->state == THREAD_SEIZED && goes_round(),
	   "the one that sleeps is stopped, the other one runs (%s)", err.msg);
	rc = stop_enter(&stop, clock_now_ns() + 5000 * MS, &err);
	ok(rc == 0 && spinner->state == THREAD_STOPPED, "then both are (%s)", err.msg);
	stop_let_go(&stop, spinner);
	ok(sleeper->state == THREAD_STOPPED && goes_round(), "one of them goes on by itself");
	stop_leave(&stop);
	ok(stop.n_threads == 2 && !stop.stuck, "both are counted");
	end(pid);
}

/* Two threads that want to run all the time, and get a processor for moments, seconds apart. */
static void body_starved(void)
{
	cpu_set_t last;
	pthread_t thread;
	int cpu = CPU_SETSIZE;

	sched_getaffinity(0, sizeof(last), &last);
	while (!CPU_ISSET(--cpu, &last))
		;
	CPU_ZERO(&last);
	CPU_SET(cpu, &last);
	sched_setaffinity(0, sizeof(last), &last);
	setpgid(0, 0);
	for (int i = 0; i < HOGS; i++)
		if (fork() == 0)
			for (;;)
				;
	setpriority(PRIO_PROCESS, 0, 19);
	pthread_create(&thread, NULL, spin, NULL);
	body_spin();
}

struct starved {
	const struct proc *proc;
	int attempts, late;
	size_t stopped;
};

static int stop_starved(void *ctx, struct uspl_err *err)
{
	struct starved *starved = ctx;
	struct stop stop;
	int rc;

	starved->attempts++;
	rc = stop_prepare(&stop, starved->proc, err);
	if (rc)
		return rc;
	rc = stop_enter(&stop, clock_now_ns() + 20 * MS, err);
	starved->late += rc != 0;
	starved->stopped = count_stopped(&stop);
	stop_leave(&stop);
	return rc;
}

/*
 * A thread that gets no processor for longer than the others may stand still for it is waited for
 * as long as the command has time.
 */
static void test_starved(void)
{
	pid_t pid = start(body_starved);
	auto_proc struct proc *proc = NULL;
	struct starved starved = { 0 };
	struct uspl_err err = { 0 };
	int rc = proc_open(pid, &proc, &err);

	starved.proc = proc;
	if (!rc)
		proc->wait_until_ns = clock_now_ns() + 50000 * MS;
	/* By chance both have a processor just then. */
	while (!rc && !starved.late && starved.attempts < 20)
		rc = stop_again(proc, stop_starved, &starved, &err);
	ok(!rc && starved.stopped == 2,
	   "threads without a processor are waited for (%d of %d attempts were late; %s)",
	   starved.late, starved.attempts, err.msg);
	ok(starved.late, "though they don't stop in time by themselves");
	kill(-pid, SIGKILL);
	end(pid);
}

int main(void)
{
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	test_many();
	test_storm();
	test_uninterruptible();
	test_left_behind();
	test_left_at_the_end();
	test_exec();
	test_stops_stay();
	test_signals();
	test_parent();
	test_order();
	test_starved();
	return tap_done();
}
