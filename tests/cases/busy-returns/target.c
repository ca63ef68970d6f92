// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has threads that call functions again as soon as these have returned

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "serve.h"

#define THREADS_MAX 16

KEPT int outer(int us);
KEPT int middle(int us);
KEPT int inner(int us);
KEPT int locks(int us);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int calls, mixed;
static atomic_bool stop;
static pthread_t threads[THREADS_MAX];
static int n_threads;

/* Works, and doesn't sleep: as a checksum would. */
static void spin(int us)
{
	struct timespec from, now;

	clock_gettime(CLOCK_MONOTONIC, &from);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - from.tv_sec) * 1000000 + (now.tv_nsec - from.tv_nsec) / 1000 < us);
}

int inner(int us)
{
	spin(us / 4);
	return 1;
}

int middle(int us)
{
	int sum = 0;

	for (int i = 0; i < 3; i++)
		sum += inner(us);
	return sum;
}

/* 3 if all of it is old, 30 if all of it is new. */
int outer(int us)
{
	int sum = middle(us);

	return sum < 0 ? -1 : sum;
}

int locks(int us)
{
	pthread_mutex_lock(&lock);
	spin(us);
	pthread_mutex_unlock(&lock);
	return 3;
}

static void note(int sum)
{
	calls++;
	mixed += sum != 3 && sum != 30;
}

static void *work(void *arg)
{
	while (!stop)
		note(outer((int)(size_t)arg));
	return NULL;
}

static void *own(void *arg)
{
	while (!stop) {
		pthread_mutex_lock(&lock);
		note(outer((int)(size_t)arg));
		pthread_mutex_unlock(&lock);
		usleep(2000);
	}
	return NULL;
}

static void *want(void *arg)
{
	while (!stop) {
		note(locks((int)(size_t)arg));
		usleep(1000);
	}
	return NULL;
}

static void start(void *(*run)(void *), int us)
{
	pthread_create(&threads[n_threads++], NULL, run, (void *)(size_t)us);
}

static void end(void)
{
	stop = true;
	while (n_threads)
		pthread_join(threads[--n_threads], NULL);
	stop = false;
}

void answer(const char *request, char *reply, size_t size)
{
	int n = 0, us = 0;

	if (sscanf(request, "run %d %d", &n, &us) == 2) {
		end();
		while (n_threads < n)
			start(work, us);
	} else if (!strcmp(request, "lock")) {
		end();
		start(own, 3000);
		start(want, 3000);
	} else if (!strcmp(request, "end")) {
		end();
	}
	n = !strcmp(request, "which") ? outer(0) : mixed;
	snprintf(reply, size, "%d", n);
}
