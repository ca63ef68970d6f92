// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - many threads that wake up every millisecond

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve.h"

#define THREADS 64

KEPT int version(void);

int version(void)
{
	return 1;
}

static struct {
	atomic_long ticks;
	atomic_int seen;
} thread[THREADS];

static void *tick(void *arg)
{
	long i = (long)arg;

	for (;;) {
		usleep(1000);
		thread[i].seen = version();
		thread[i].ticks++;
	}
	return NULL;
}

static void start(void)
{
	for (long i = 0; i < THREADS; i++) {
		pthread_t id;

		if (pthread_create(&id, NULL, tick, (void *)i) != 0)
			abort();
	}
}

/*
 * Waits until each has ticked twice, so that it has begun a tick after the question, and counts
 * what they saw.
 */
static void ask_all(char *reply, size_t size)
{
	long before[THREADS];
	int versions[3] = { 0 };

	for (int i = 0; i < THREADS; i++)
		before[i] = thread[i].ticks;
	for (int i = 0; i < THREADS; i++) {
		while (thread[i].ticks < before[i] + 2)
			usleep(1000);
		versions[thread[i].seen]++;
	}
	snprintf(reply, size, "%d old, %d new", versions[1], versions[2]);
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "start"))
		start();
	else
		ask_all(reply, size);
}
