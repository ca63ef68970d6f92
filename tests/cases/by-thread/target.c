// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - threads that spend nine tenths of their time in calls of 1 ms to a second, and check
// that they go from old code to new, once, and never have both on their stacks

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "serve.h"

#define THREADS_MAX 24
#define OLD 1
#define NEW 10
#define SLICE_NS 500000

KEPT int outer(long us);
KEPT int inner(long us);
KEPT int version(void);

/* What a child of fork tells: which code it runs, and whether that was ever mixed. */
static struct {
	atomic_int last, calls, mixed;
} * child;

static pthread_t threads[THREADS_MAX];
static int n_threads;
static long longest_us;
static atomic_bool stop, go;
static atomic_int calls, mixed, back, holding;
static atomic_int goal; /* once a thread has met this code, it must not meet the other, */
static atomic_int era;  /* until this changes */
static atomic_long most_held_ns;
static __thread int inside; /* the code of the call that the thread is in; 0: it is in none */

static long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Longer than it should have been: it was held, or others had the processor. */
static void note_held(long ns)
{
	long most = most_held_ns;

	while (ns > most && !atomic_compare_exchange_weak(&most_held_ns, &most, ns))
		;
}

static void nap(long us)
{
	const struct timespec slice = { 0, SLICE_NS };
	long end = now_ns() + us * 1000, before, after = now_ns();

	while (after < end) {
		before = after;
		nanosleep(&slice, NULL);
		after = now_ns();
		note_held(after - before - SLICE_NS);
	}
}

int version(void)
{
	return 1;
}

int inner(long us)
{
	nap(us / 2);
	return 1;
}

/* 4 if all of it is old, 40 if all of it is new. */
int outer(long us)
{
	int before = inside, sum;

	inside = 1;
	if (us < 0) {
		holding++;
		while (!go)
			usleep(1000);
		holding--;
		us = 0;
	}
	sum = inner(us) + version() + inner(us) + 1;
	inside = before;
	return sum;
}

static void on_signal(int number)
{
	int found = version();

	(void)number;
	mixed += inside && found != inside;
}

static int call(long us)
{
	int sum = outer(us);

	mixed += sum != 4 * OLD && sum != 4 * NEW;
	calls++;
	return sum / 4;
}

static void set_signal_stack(char *stack, size_t size)
{
	const stack_t signal_stack = { .ss_sp = stack, .ss_size = size };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART };

	sigaltstack(&signal_stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
}

/* From another place in the stack than as a rule. */
KEPT int call_deeper(long us, volatile char *room);
int call_deeper(long us, volatile char *room)
{
	char more[512];

	more[0] = room ? *room : 0;
	return call(us + *(volatile char *)more * 0);
}

static void *work(void *arg)
{
	char above[64 * 1024];
	char *signal_stack = (uintptr_t)arg % 4 ? malloc(sizeof(above)) : above;
	uint64_t random = (uintptr_t)arg * 0x9e3779b97f4a7c15 + 1;
	int was = 0, was_era = 0;

	/* As a rule it lies below the thread's calls, by its address; of some above them. */
	set_signal_stack(signal_stack, sizeof(above));
	for (int i = 0; !stop; i++) {
		double share;
		int found, now = era, aim = goal;
		long us;

		random = random * 6364136223846793005 + 1442695040888963407;
		share = (double)(random >> 40) / (1 << 24);
		/* Evenly by the logarithm. */
		us = (long)(1000 * pow((double)longest_us / 1000, share));
		found = i % 3 ? call(us) : call_deeper(us, NULL);
		/* Who has gone over doesn't go back. */
		back += aim && was_era == now && now == era && was == aim && found != aim;
		was = found;
		was_era = now;
		nap(us / 9);
	}
	return NULL;
}

static void *stay(void *unused)
{
	(void)unused;
	call(-1);
	return NULL;
}

static void *send_signals(void *unused)
{
	(void)unused;
	for (int n = 0; !stop; n++) {
		for (int i = 0; i < n_threads - 1 && !stop; i++)
			if (i % 4 || !(n % 400))
				pthread_kill(threads[i], SIGUSR1);
		usleep(3000);
	}
	return NULL;
}

static void end(void)
{
	stop = go = true;
	for (int i = 0; i < n_threads; i++)
		pthread_join(threads[i], NULL);
	n_threads = 0;
	stop = go = false;
}

static void start(void *(*run)(void *))
{
	pthread_create(&threads[n_threads], NULL, run, (void *)(uintptr_t)n_threads);
	n_threads++;
}

static void run_child(void)
{
	for (;;) {
		int sum = outer(2000);

		child->mixed += sum != 4 * OLD && sum != 4 * NEW;
		child->last = sum / 4;
		child->calls++;
	}
}

void answer(const char *request, char *reply, size_t size)
{
	int n = 0, aim = 0;
	pid_t pid;

	if (sscanf(request, "run %d %ld", &n, &longest_us) == 2) {
		end();
		while (n_threads < n)
			start(work);
	} else if (!strcmp(request, "signals")) {
		start(send_signals);
	} else if (sscanf(request, "aim %d", &aim) == 1) {
		most_held_ns = 0;
		goal = aim;
		era++;
	} else if (!strcmp(request, "stay")) {
		start(stay);
		while (!holding)
			usleep(1000);
	} else if (!strcmp(request, "go")) {
		go = true;
		while (holding)
			usleep(1000);
		go = false;
	} else if (!strcmp(request, "end")) {
		end();
	} else if (!strcmp(request, "held")) {
		snprintf(reply, size, "%ld us", most_held_ns / 1000);
		return;
	} else if (!strcmp(request, "which")) {
		snprintf(reply, size, "%d", call(0));
		return;
	} else if (!strcmp(request, "fork")) {
		child = mmap(NULL, sizeof(*child), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		pid = fork();
		if (!pid)
			run_child();
		snprintf(reply, size, "%d", pid);
		return;
	} else if (!strcmp(request, "child")) {
		n = child->calls;
		while (child->calls < n + 3)
			usleep(1000);
		snprintf(reply, size, "%d, %d mixed", child->last, child->mixed);
		return;
	}
	snprintf(reply, size, "%d mixed, %d back", mixed, back);
}
