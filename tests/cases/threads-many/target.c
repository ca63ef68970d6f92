// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - many threads that sleep, and wake up all at once

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

#define THREADS 1024
#define STACK_SIZE (64 << 10)

KEPT int version(void);

int version(void)
{
	return 1;
}

static struct {
	pthread_mutex_t mutex;
	pthread_cond_t call, done;
	int round, answers, versions[3];
} on = { .mutex = PTHREAD_MUTEX_INITIALIZER,
	 .call = PTHREAD_COND_INITIALIZER,
	 .done = PTHREAD_COND_INITIALIZER };

static void *run(void *arg)
{
	int seen = 0;

	pthread_mutex_lock(&on.mutex);
	for (;;) {
		while (on.round == seen)
			pthread_cond_wait(&on.call, &on.mutex);
		seen = on.round;
		on.versions[version()]++;
		if (++on.answers == THREADS)
			pthread_cond_signal(&on.done);
	}
	return arg;
}

static void start(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread, &attr, run, NULL) != 0)
			abort();
}

/* Wakes all, and counts what they say. */
static void ask_all(char *reply, size_t size)
{
	pthread_mutex_lock(&on.mutex);
	on.answers = on.versions[1] = on.versions[2] = 0;
	on.round++;
	pthread_cond_broadcast(&on.call);
	while (on.answers < THREADS)
		pthread_cond_wait(&on.done, &on.mutex);
	snprintf(reply, size, "%d old, %d new", on.versions[1], on.versions[2]);
	pthread_mutex_unlock(&on.mutex);
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "start"))
		start();
	else
		ask_all(reply, size);
}
