// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - many threads that sleep, and some that wake up a thousand times a second

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "serve.h"

#define SLEEPERS 2048
#define WAKERS 24
#define STACK_SIZE (64 << 10)

KEPT int version(void);

int version(void)
{
	return 1;
}

static atomic_int round_now, answers[WAKERS], versions[WAKERS];

static void *sleep_on(void *arg)
{
	poll(NULL, 0, -1);
	return arg;
}

static void *wake(void *arg)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	long i = (long)arg;

	for (;;) {
		int round = round_now;

		versions[i] = version();
		answers[i] = round;
		nanosleep(&nap, NULL);
	}
	return NULL;
}

static void start(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	for (long i = 0; i < SLEEPERS + WAKERS; i++)
		if (pthread_create(&thread, &attr, i < WAKERS ? wake : sleep_on, (void *)i) != 0)
			abort();
}

/* Each of those that wake up has called the function since it was asked. */
static void ask_all(char *reply, size_t size)
{
	int n[3] = { 0 }, round = ++round_now;

	for (int i = 0; i < WAKERS; i++) {
		while (answers[i] < round)
			poll(NULL, 0, 1);
		n[versions[i]]++;
	}
	snprintf(reply, size, "%d old, %d new", n[1], n[2]);
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "start"))
		start();
	else
		ask_all(reply, size);
}
