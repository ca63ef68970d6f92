// SPDX-License-Identifier: GPL-3.0-or-later
// held_sleepers_test.c - those that sleep sleep on through many stops, and can't come out in one

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "thread/held_sleepers.h"
#include "thread/runcount.h"

#define MS 1000000ll
#define PATIENCE_NS (60000 * MS)
#define SLEEPERS 12
#define STOPS 20

struct talk {
	int ready, rounds, came_out, wrong, handled, go;
	pid_t tids[SLEEPERS];
	int n_tids;
};

static volatile struct talk *shared;
static int wake[2]; /* a byte for each sleeper that is to come out */

/* True once the condition holds. */
#define until(cond)                                                                                \
	({                                                                                         \
		int64_t until_ = clock_now_ns() + PATIENCE_NS;                                     \
		while (!(cond) && clock_now_ns() < until_)                                         \
			sched_yield();                                                             \
		(cond);                                                                            \
	})

static void handle(int sig)
{
	(void)sig;
	shared->handled++;
}

/* Half of them in a call that answers EINTR to a stop, if nobody hides it. */
static void *sleeper(void *arg)
{
	bool polls = (long)arg % 2;
	int set = epoll_create1(0);
	struct epoll_event event = { .events = EPOLLIN };
	char byte;

	epoll_ctl(set, EPOLL_CTL_ADD, wake[0], &event);
	shared->tids[(long)arg] = gettid();
	__atomic_add_fetch(&shared->n_tids, 1, __ATOMIC_SEQ_CST);
	for (;;) {
		if ((polls && epoll_wait(set, &event, 1, -1) != 1) || read(wake[0], &byte, 1) != 1)
			shared->wrong++;
		else
			__atomic_add_fetch(&shared->came_out, 1, __ATOMIC_SEQ_CST);
	}
	return arg;
}

static void body(long n_sleepers)
{
	struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
	pthread_t thread;

	sigaction(SIGUSR1, &action, NULL);
	for (long i = 0; i < n_sleepers; i++)
		pthread_create(&thread, NULL, sleeper, (void *)i);
	while (shared->n_tids < n_sleepers)
		sched_yield();
	shared->ready = 1;
	while (!shared->go)
		shared->rounds++;
	execl("/bin/sleep", "sleep", "60", NULL);
}

static struct proc *proc;
static pid_t pid;

static bool all_sleep(void)
{
	for (int i = 0; i < shared->n_tids; i++)
		if (!task_sleeps(proc, shared->tids[i]))
			return false;
	return true;
}

static void start(long n_sleepers)
{
	struct uspl_err err = { 0 };

	memset((void *)(uintptr_t)shared, 0, sizeof(*shared));
	if (pipe(wake) != 0)
		_exit(1);
	pid = fork();
	if (!pid) {
		alarm(300);
		body(n_sleepers);
		_exit(0);
	}
	until(shared->ready);
	ok(proc_open(pid, &proc, &err) == 0, "a target with %ld sleepers (%s)", n_sleepers,
	   err.msg);
	until(all_sleep());
}

static void end(void)
{
	proc_free(proc);
	proc = NULL;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(wake[0]);
	close(wake[1]);
}

static uint64_t runs_of_sleepers(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < shared->n_tids; i++) {
		struct runcount count;

		runcount_open(&count, proc, shared->tids[i]);
		sum += runcount_read(&count, proc);
		runcount_close(&count);
	}
	return sum;
}

static size_t count(const struct held_sleepers *sleepers, enum thread_state state)
{
	const struct thread *thread;
	size_t n = 0;

	vec_for_each (&sleepers->stop.threads, thread)
		n += thread->state == state;
	return n;
}

static bool yes(void *ctx, const struct thread *thread)
{
	(void)ctx;
	return thread->regs_valid;
}

static bool no(void *ctx, const struct thread *thread)
{
	(void)ctx;
	(void)thread;
	return false;
}

static int64_t soon(void)
{
	return clock_now_ns() + PATIENCE_NS;
}

/* What the work has seen. */
struct seen {
	size_t caught, stopped, ran_on;
	uint64_t runs; /* when they had been held */
	int out_within, out_after, handled_within;
	bool held, spun;
};

static int many_stops(struct held_sleepers *sleepers, void *ctx, struct uspl_err *err)
{
	struct seen *seen = ctx;
	int rc = held_sleepers_hold(sleepers, yes, NULL, soon(), err);

	seen->caught = count(sleepers, THREAD_HELD);
	until(all_sleep());
	seen->runs = runs_of_sleepers();
	for (int i = 0; !rc && i < STOPS; i++) {
		int from;

		rc = held_sleepers_enter(sleepers, soon(), err);
		seen->stopped += count(sleepers, THREAD_STOPPED);
		held_sleepers_leave(sleepers);
		from = shared->rounds;
		seen->ran_on += until(shared->rounds != from);
	}
	return rc;
}

static bool is_traced(pid_t tid)
{
	auto_buf struct buf text = { 0 };
	const char *tracer = NULL;

	if (task_status(proc, tid, &text))
		tracer = task_status_field(&text, "TracerPid");
	return !tracer || atol(tracer);
}

static void test_sleep_on(void)
{
	struct seen seen = { 0 };
	struct uspl_err err = { 0 };
	int rc, traced;

	start(SLEEPERS);
	rc = held_sleepers_run(proc, many_stops, &seen, &err);
	traced = is_traced(pid);
	for (int i = 0; i < SLEEPERS; i++)
		traced += is_traced(shared->tids[i]);
	ok(rc == 0 && seen.caught == SLEEPERS, "all sleepers are caught (%zu, %s)", seen.caught,
	   err.msg);
	ok(seen.stopped == STOPS && seen.ran_on == STOPS,
	   "the one that runs is stopped each time, and goes on (%zu, %zu)", seen.stopped,
	   seen.ran_on);
	ok(!traced, "nobody is traced any more");
	/* Where the kernel doesn't count both are 0. */
	ok(runs_of_sleepers() == seen.runs, "no sleeper has run since it was caught, to the end");
	for (int i = 0; i < SLEEPERS; i++)
		(void)!write(wake[1], "x", 1);
	ok(until(shared->came_out == SLEEPERS) && !shared->wrong,
	   "their calls end as they should (%d, %d not)", shared->came_out, shared->wrong);
	end();
}

/* True once the kernel holds somebody who is held. */
static bool one_is_held(void)
{
	for (int i = 0; i < shared->n_tids; i++)
		if (task_state(proc, shared->tids[i]) == 't')
			return true;
	return false;
}

static void rest_until(struct held_sleepers *sleepers, const volatile int *sign)
{
	int64_t deadline = soon();

	while (!*sign && clock_now_ns() < deadline)
		held_sleepers_rest(sleepers, MS);
}

static int woken_in_stop(struct held_sleepers *sleepers, void *ctx, struct uspl_err *err)
{
	struct seen *seen = ctx;
	int rc = held_sleepers_hold(sleepers, yes, NULL, soon(), err);

	if (!rc)
		rc = held_sleepers_enter(sleepers, soon(), err);
	(void)!write(wake[1], "x", 1);
	seen->held = until(one_is_held());
	seen->out_within = shared->came_out;
	held_sleepers_leave(sleepers);
	rest_until(sleepers, &shared->came_out);
	seen->out_after = shared->came_out;
	return rc;
}

static void test_woken(void)
{
	struct seen seen = { 0 };
	struct uspl_err err = { 0 };
	int rc;

	start(2);
	rc = held_sleepers_run(proc, woken_in_stop, &seen, &err);
	ok(rc == 0 && seen.held && !seen.out_within, "who is woken in a stop is held (%d, %s)",
	   seen.out_within, err.msg);
	ok(seen.out_after == 1, "and comes out behind it");
	end();
}

/* As a tool that is killed. */
static int left_alone(struct held_sleepers *sleepers, void *ctx, struct uspl_err *err)
{
	struct seen *seen = ctx;
	int rc = held_sleepers_hold(sleepers, yes, NULL, soon(), err);

	(void)!write(wake[1], "x", 1);
	seen->held = until(one_is_held());
	return rc;
}

static void test_left(void)
{
	struct seen seen = { 0 };
	struct uspl_err err = { 0 };
	int rc, rounds;

	start(1);
	rc = held_sleepers_run(proc, left_alone, &seen, &err);
	ok(rc == 0 && seen.held && until(shared->came_out == 1) && !shared->wrong,
	   "who is held when our thread ends goes on (%s)", err.msg);
	rounds = shared->rounds;
	ok(until(shared->rounds != rounds) && until(all_sleep()), "and so does the process");
	end();
}

static int signalled_in_stop(struct held_sleepers *sleepers, void *ctx, struct uspl_err *err)
{
	struct seen *seen = ctx;
	int rc = held_sleepers_hold(sleepers, yes, NULL, soon(), err);

	if (!rc)
		rc = held_sleepers_enter(sleepers, soon(), err);
	syscall(SYS_tgkill, pid, shared->tids[0], SIGUSR1);
	seen->held = until(one_is_held());
	seen->handled_within = shared->handled;
	held_sleepers_leave(sleepers);
	rest_until(sleepers, &shared->handled);
	return rc;
}

static void test_signal(void)
{
	struct seen seen = { 0 };
	struct uspl_err err = { 0 };
	int rc;

	start(1);
	rc = held_sleepers_run(proc, signalled_in_stop, &seen, &err);
	ok(rc == 0 && seen.held && !seen.handled_within && shared->handled == 1,
	   "a signal in a stop is handled behind it (%d, %s)", shared->handled, err.msg);
	end();
}

static int none_may_stay(struct held_sleepers *sleepers, void *ctx, struct uspl_err *err)
{
	struct seen *seen = ctx;
	int rc = held_sleepers_hold(sleepers, no, NULL, soon(), err);

	seen->caught = count(sleepers, THREAD_HELD);
	if (!rc)
		rc = held_sleepers_enter(sleepers, soon(), err);
	seen->stopped = count(sleepers, THREAD_STOPPED);
	held_sleepers_leave(sleepers);
	return rc;
}

static void test_refused(void)
{
	struct seen seen = { 0 };
	struct uspl_err err = { 0 };
	int rc;

	start(3);
	rc = held_sleepers_run(proc, none_may_stay, &seen, &err);
	ok(rc == 0 && !seen.caught && seen.stopped == 4,
	   "who may not stay is stopped like those that run (%zu, %s)", seen.stopped, err.msg);
	end();
}

static bool is_other_program(void)
{
	auto_buf struct buf text = { 0 };
	const char *name = task_status(proc, pid, &text) ? task_status_field(&text, "Name") : NULL;

	return name && strstr(name, "sleep");
}

/* exec waits for all others to die, and for us to have heard of it. */
static int exec_meanwhile(struct held_sleepers *sleepers, void *ctx, struct uspl_err *err)
{
	struct seen *seen = ctx;
	int rc = held_sleepers_hold(sleepers, yes, NULL, soon(), err);
	int64_t deadline = soon();

	shared->go = 1;
	while (!rc && !seen->spun && clock_now_ns() < deadline) {
		held_sleepers_rest(sleepers, MS);
		seen->spun = is_other_program();
	}
	return rc;
}

static int killed_meanwhile(struct held_sleepers *sleepers, void *ctx, struct uspl_err *err)
{
	int rc = held_sleepers_hold(sleepers, yes, ctx, soon(), err);

	kill(pid, SIGKILL);
	if (!rc)
		rc = held_sleepers_enter(sleepers, soon(), err);
	held_sleepers_leave(sleepers);
	return 0;
}

static void test_ends(void)
{
	struct seen seen = { 0 };
	struct uspl_err err = { 0 };
	int rc;

	start(3);
	rc = held_sleepers_run(proc, exec_meanwhile, &seen, &err);
	ok(rc == 0 && seen.spun, "exec doesn't wait for those that were caught (%s)", err.msg);
	end();
	start(3);
	rc = held_sleepers_run(proc, killed_meanwhile, NULL, NULL);
	ok(rc == 0, "a process that is killed ends the lull");
	end();
}

int main(void)
{
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	test_sleep_on();
	test_woken();
	test_left();
	test_signal();
	test_refused();
	test_ends();
	return tap_done();
}
