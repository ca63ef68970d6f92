// SPDX-License-Identifier: GPL-3.0-or-later
// time_left_test.c - what is left of a call's time-out is that call's, whatever tools come after
// each other

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"
#include "thread/blocked_place.h"
#include "thread/stop.h"

enum { SLEEPERS = 300, TIMEOUT_ARG = 2 };

/* How long thread i of the target waits. */
#define SECONDS(i) (1000 + (i))

struct talk {
	pid_t tids[SLEEPERS];
	int asleep;
};

static volatile struct talk *shared;

static void *sleep_long(void *arg)
{
	long i = (long)arg;
	const struct timespec time = { SECONDS(i), 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	shared->tids[i] = (pid_t)syscall(SYS_gettid);
	__atomic_fetch_add(&shared->asleep, 1, __ATOMIC_SEQ_CST);
	sigtimedwait(&set, NULL, &time);
	return NULL;
}

static void body(void)
{
	pthread_attr_t attr;
	pthread_t threads[SLEEPERS];

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (long i = 0; i < SLEEPERS; i++)
		pthread_create(&threads[i], &attr, sleep_long, (void *)i);
	for (;;)
		pause();
}

/* False until the thread sleeps in its call; then what the call goes by. */
static bool read_time(const struct proc *proc, int i, taddr *ret_at, struct timespec *ret)
{
	struct blocked_place place;

	if (!blocked_place_read(proc, shared->tids[i], &place) || place.nr != SYS_rt_sigtimedwait)
		return false;
	*ret_at = place.args[TIMEOUT_ARG];
	return proc_read(proc, *ret_at, ret, sizeof(*ret), NULL) == 0;
}

static void await_sleep(const struct proc *proc, int i)
{
	struct timespec time;
	taddr at;

	while (!read_time(proc, i, &at, &time))
		usleep(1000);
}

/* As one tool does it, which stops that thread alone. */
static bool stop_one(const struct proc *proc, int i)
{
	pid_t tid = shared->tids[i];
	tid_vec tids = { .items = &tid, .n = 1 };
	struct stop stop;
	int rc;

	await_sleep(proc, i);
	stop_begin(&stop, proc);
	rc = stop_some(&stop, &tids, clock_now_ns() + 10000000000ll, NULL);
	stop_leave(&stop);
	await_sleep(proc, i);
	return rc == 0;
}

/* How many of the first n go by a time that isn't theirs. */
static int count_wrong(const struct proc *proc, int n)
{
	struct timespec time;
	int wrong = 0;
	taddr at;

	for (int i = 0; i < n; i++)
		wrong += !read_time(proc, i, &at, &time) || time.tv_sec > SECONDS(i) ||
			 time.tv_sec < SECONDS(i) - 120;
	return wrong;
}

/* Each of the first n is stopped by itself. */
static bool stop_each(const struct proc *proc, int n)
{
	bool stopped = true;

	for (int i = n; i--;)
		stopped &= stop_one(proc, i);
	return stopped;
}

int main(void)
{
	auto_proc struct proc *proc = NULL;
	struct timespec time;
	taddr first, second;
	pid_t pid;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	pid = fork();
	if (!pid)
		body();
	while (shared->asleep < SLEEPERS)
		usleep(1000);
	ok(proc_open(pid, &proc, NULL) == 0, "the target is open");
	await_sleep(proc, 0);
	await_sleep(proc, 1);
	ok(stop_one(proc, 0) && read_time(proc, 0, &first, &time), "a thread is stopped");
	ok(stop_one(proc, 1) && read_time(proc, 1, &second, &time), "and then another one");
	ok(first != second, "they have places of their own");
	ok(count_wrong(proc, 2) == 0, "and times of their own");
	ok(stop_each(proc, SLEEPERS) && count_wrong(proc, SLEEPERS) == 0,
	   "so it is with more threads than there are places");
	ok(stop_each(proc, SLEEPERS) && count_wrong(proc, SLEEPERS) == 0, "and once more");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return tap_done();
}
