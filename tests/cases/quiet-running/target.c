// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has threads that call a function all the time

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "serve.h"

#ifndef WORKERS
#define WORKERS 1
#endif

KEPT int version(void);

/*
 * What a worker has seen since it was last asked: which versions, and one after the other how
 * often.
 */
static struct worker {
	atomic_int last;
	atomic_int changes;
	atomic_int rounds;
} workers[WORKERS];

int version(void)
{
	return 1;
}

static void *work(void *arg)
{
	struct worker *worker = arg;

	for (;;) {
		int now = version();

		if (worker->last != now)
			worker->changes++;
		worker->last = now;
		worker->rounds++;
	}
	return NULL;
}

static void start(void)
{
	pthread_t thread;

	for (int i = 0; i < WORKERS; i++)
		pthread_create(&thread, NULL, work, &workers[i]);
}

/*
 * Waits until each worker has called twice more, and tells what each saw last and how often that
 * has changed.
 */
static void tell(char *reply, size_t size)
{
	size_t used = 0;

	for (int i = 0; i < WORKERS; i++) {
		int from = workers[i].rounds;

		while (workers[i].rounds - from < 2)
			;
		used += snprintf(reply + used, size - used, "%s%d/%d", i ? " " : "",
				 workers[i].last, workers[i].changes);
	}
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "start"))
		start();
	tell(reply, size);
}
