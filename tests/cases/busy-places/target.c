// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - is busy in places that are hard to see

#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "serve.h"

#define CROWD 100

KEPT int handled(int more);
KEPT int timed(int more);
KEPT int crowded(int more);
KEPT void last(int more);
KEPT int version(void);

static atomic_int inside;
static atomic_bool leave;
static volatile int sink;

static void wait_to_leave(void)
{
	inside++;
	while (!leave)
		usleep(1000);
	inside--;
}

int handled(int more)
{
	char line[LINE_SIZE];

	puts("inside");
	fflush(stdout);
	next_line(line);
	return more + 1;
}

int timed(int more)
{
	struct timespec now;

	inside++;
	while (!leave)
		clock_gettime(CLOCK_MONOTONIC, &now);
	inside--;
	return more + 1;
}

int crowded(int more)
{
	wait_to_leave();
	return more + 1;
}

static __attribute__((noinline, noreturn)) void never(int more)
{
	sink = more;
	wait_to_leave();
	/* Not pthread_exit, which would load a library in the middle of the test. */
	for (;;)
		syscall(SYS_exit, 0);
}

void last(int more)
{
	never(more + 1);
}

int version(void)
{
	return 1;
}

static void on_signal(int sig)
{
	sink = handled(sig);
}

static void raise_one(int flags)
{
	static char room[65536];
	stack_t stack = { .ss_sp = room, .ss_size = sizeof(room) };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

static void *run_timed(void *arg)
{
	sink = timed(1);
	return arg;
}

static void *run_crowded(void *arg)
{
	sink = crowded(1);
	return arg;
}

static void *run_last(void *arg)
{
	last(1);
	return arg;
}

static void start(void *(*body)(void *), int n)
{
	pthread_attr_t attr;
	pthread_t thread;

	leave = false;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (int i = 0; i < n; i++) {
		if (pthread_create(&thread, &attr, body, NULL) != 0)
			abort();
		pthread_detach(thread);
	}
	while (inside < n)
		usleep(1000);
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "handler"))
		raise_one(0);
	else if (!strcmp(request, "altstack"))
		raise_one(SA_ONSTACK);
	else if (!strcmp(request, "timed"))
		start(run_timed, 1);
	else if (!strcmp(request, "crowded"))
		start(run_crowded, CROWD);
	else if (!strcmp(request, "last"))
		start(run_last, 1);
	leave = !strcmp(request, "leave");
	while (leave && inside)
		usleep(1000);
	snprintf(reply, size, "%d", version());
}
