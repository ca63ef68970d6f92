// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - markers of all kinds, each hit as often as it is asked to

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <uspl/mark.h>

#include "serve.h"

#define THREADS 8

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif

long gauge(long value), shop_run(long n);
long step(long n, const char *who);

static volatile sig_atomic_t alarms;

/* Inlined into each of its callers. */
static inline long weigh(long x)
{
	USPL_MARK(app, weigh, "x=%ld", x);
	return x & 3;
}

KEPT long step(long n, const char *who)
{
	long sum = 0;

	for (long i = 0; i < n; i++) {
		USPL_MARK(app, step, "i=%ld who=%s small=%hhd u=%u", i, who, (signed char)-i,
			  (unsigned)i);
		sum += weigh(i) + weigh(-i);
	}
	return sum;
}

/* Each sort of argument once, and as many as there may be. */
static void all_sorts(const char *text)
{
	char made[16];
	struct {
		unsigned bits : 3;
		_Bool yes;
		float single;
	} all = { 5, 1, 1.5f };

	snprintf(made, sizeof(made), "<%s>", text);
	USPL_MARK(app, plain, "nothing to say, 100%%");
	USPL_MARK(app, sorts, "%d %s %c %#lx %.2Lf %u %5s|%-6s|", -7, made, 'x',
		  0xabcdef0123456789ul, 2.5L, all.bits, (char *)NULL, "left");
	USPL_MARK(app, rest, "%d %g %*d %llu", all.yes, (double)all.single, 6, 42, ~0ull);
}

static void *step_in_thread(void *arg)
{
	char who[16];

	snprintf(who, sizeof(who), "thread %ld", *(long *)arg % 1000);
	*(long *)arg = step(*(long *)arg / 1000, who);
	return NULL;
}

static long step_in_threads(long n)
{
	pthread_t threads[THREADS];
	long values[THREADS], sum = 0;

	for (long i = 0; i < THREADS; i++) {
		values[i] = n * 1000 + i;
		pthread_create(&threads[i], NULL, step_in_thread, &values[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += values[i];
	}
	return sum;
}

static void on_alarm(int sig)
{
	USPL_MARK(app, alarm, "signal %d, number %d", sig, (int)alarms);
	alarms++;
}

/* Until so many signals have come, in marked code. */
static long storm(long n)
{
	struct sigaction act = { .sa_handler = on_alarm };
	struct itimerval every = { { 0, 100 }, { 0, 100 } }, never = { { 0, 0 }, { 0, 0 } };

	alarms = 0;
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	while (alarms < n)
		step(10, "storm");
	setitimer(ITIMER_REAL, &never, NULL);
	return alarms;
}

static long step_in_child(long n)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(step(n, "child") >= 0 ? 7 : 1);
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

void answer(const char *request, char *reply, size_t size)
{
	long n = 0;

	sscanf(request, "%*s %ld", &n);
	if (!strncmp(request, "step ", 5))
		n = step(n, "main");
	else if (!strncmp(request, "threads ", 8))
		n = step_in_threads(n);
	else if (!strncmp(request, "shop ", 5))
		n = shop_run(n);
	else if (!strncmp(request, "gauge ", 6))
		n = gauge(n);
	else if (!strncmp(request, "storm ", 6))
		n = storm(n);
	else if (!strncmp(request, "child ", 6))
		n = step_in_child(n);
	else if (!strncmp(request, "deny", 4))
		n = prctl(PR_SET_MDWE, 1, 0, 0, 0);
	else if (!strncmp(request, "sorts", 5))
		all_sorts("made");
	snprintf(reply, size, "%ld", n);
}
