// SPDX-License-Identifier: GPL-3.0-or-later
// blocked.c - what it costs to examine sleeping threads where they sleep: blocked [THREADS]...
/*
 * A process of THREADS threads (1, 16, 128, 1024) that sleep below a stack of 14 KB is looked at,
 * its stacks are checked, and it is asked whether anybody has run since. Medians of many rounds:
 *
 *     look       one thread: run count, place, run count
 *     check      one thread: its stack followed to its end
 *     scan       one thread: all words of its stack, as where unwinding is lost
 *     sum        all threads at once: has any of them run?
 *     singles    the same, one count after the other
 */

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "safety/safety.h"

#define ROUNDS 21
#define DEPTH 64
#define FRAME 200 /* DEPTH frames of that size are the 14 KB */

static int deep(int depth)
{
	volatile char room[FRAME];

	memset((char *)room, depth, sizeof(room));
	if (depth == 0)
		return poll(NULL, 0, -1);
	return deep(depth - 1) + room[depth];
}

static void *sleeper(void *arg)
{
	return (void *)(long)(deep(DEPTH) + (arg != NULL));
}

static pid_t start(size_t threads)
{
	pthread_attr_t attr;
	pthread_t thread;
	pid_t pid = fork();

	if (pid)
		return pid;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (size_t i = 1; i < threads; i++)
		if (pthread_create(&thread, &attr, sleeper, NULL) != 0)
			_exit(1);
	sleeper(NULL);
	_exit(0);
}

static int by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Sorts the times, and gives the one in the middle in microseconds. */
static double median_us(int64_t times[ROUNDS])
{
	qsort(times, ROUNDS, sizeof(times[0]), by_value);
	return (double)times[ROUNDS / 2] / 1000;
}

struct figures {
	int64_t look[ROUNDS], check[ROUNDS], scan[ROUNDS], sum[ROUNDS], singles[ROUNDS];
};

/*
 * All threads' stacks, with all registers that are known, or with a program counter that leads
 * nowhere.
 */
static void check_all(struct safety *safety, const struct blocked *blocked, bool lost)
{
	const struct blocked_thread *thread;

	vec_for_each (&blocked->threads, thread) {
		struct blocked_thread copy = *thread;
		struct safety_finding finding;

		if (lost)
			copy.regs.value[DWARF_PC] = 0;
		safety_check_blocked(safety, &copy, &finding);
	}
}

static void forget(struct blocked *blocked)
{
	struct blocked_thread *thread;

	vec_for_each (&blocked->threads, thread)
		thread->class = BLOCKED_RUNS;
}

static int measure_round(struct blocked *blocked, struct safety *safety, struct figures *figures,
			 int i)
{
	struct runsum sum;
	int64_t t[6];
	bool good;

	forget(blocked);
	sum = blocked->sum;
	blocked->sum.link.fd = -1;
	t[0] = clock_now_ns();
	if (blocked_look(blocked, NULL) != 0)
		return -1;
	t[1] = clock_now_ns();
	check_all(safety, blocked, false);
	t[2] = clock_now_ns();
	check_all(safety, blocked, true);
	t[3] = clock_now_ns();
	good = blocked_unchanged(blocked);
	t[4] = clock_now_ns();
	blocked->sum = sum;
	if (blocked_look(blocked, NULL) != 0)
		return -1;
	figures->sum[i] = clock_now_ns();
	good &= blocked_unchanged(blocked);
	figures->sum[i] = clock_now_ns() - figures->sum[i];
	figures->look[i] = t[1] - t[0];
	figures->check[i] = t[2] - t[1];
	figures->scan[i] = t[3] - t[2];
	figures->singles[i] = t[4] - t[3];
	return good ? 0 : -1;
}

/* Until there are as many threads as there are to be, all of them asleep. */
static int settle(struct blocked *blocked, size_t threads, struct uspl_err *err)
{
	int rc;

	do {
		rc = blocked_look(blocked, err);
	} while (!rc && (blocked->threads.n != threads || !blocked_unchanged(blocked)));
	return rc;
}

static int measure(pid_t pid, size_t threads, struct uspl_err *err)
{
	struct figures figures;
	module_vec modules = { 0 };
	auto_unwinder struct unwinder *unwinder = NULL;
	auto_proc struct proc *proc = NULL;
	struct blocked blocked;
	struct safety safety = { 0 };
	int rc = proc_open(pid, &proc, err);

	if (!rc)
		rc = blocked_open(&blocked, proc, err);
	if (!rc)
		rc = settle(&blocked, threads, err);
	if (!rc)
		rc = proc_refresh_maps(proc, err);
	if (!rc)
		rc = modules_read(proc, &modules, err);
	if (!rc)
		rc = unwinder_new(proc, &modules, &unwinder, err);
	if (!rc)
		rc = safety_add(&safety, "nothing", 4096, 4096, false, err);
	safety.proc = proc;
	safety.unwinder = unwinder;
	for (int i = 0; !rc && i < ROUNDS; i++)
		while (!rc && measure_round(&blocked, &safety, &figures, i) != 0)
			rc = settle(&blocked, threads, err);
	if (!rc)
		printf("%7zu %9.2f %9.2f %9.2f %9.1f %9.1f\n", threads,
		       median_us(figures.look) / (double)threads,
		       median_us(figures.check) / (double)threads,
		       median_us(figures.scan) / (double)threads, median_us(figures.sum),
		       median_us(figures.singles));
	safety_release(&safety);
	modules_release(&modules);
	return rc;
}

/* Each thread's count has a descriptor of its own. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int main(int argc, char **argv)
{
	static const char *const usual[] = { "1", "16", "128", "1024" };
	const char *const *counts = argc > 1 ? (const char *const *)argv + 1 : usual;
	size_t n = argc > 1 ? (size_t)argc - 1 : ARRAY_SIZE(usual);

	raise_limit();
	puts("threads that sleep, us: a thread's look, check and scan, and all threads' recount");
	puts("threads      look     check      scan       sum   singles");
	for (size_t i = 0; i < n; i++) {
		size_t threads = (size_t)strtoul(counts[i], NULL, 10);
		struct uspl_err err = { 0 };
		pid_t pid = start(threads);
		int rc = measure(pid, threads, &err);

		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		if (rc) {
			uspl_err_print(stderr, "blocked", &err);
			return 1;
		}
	}
	return 0;
}
