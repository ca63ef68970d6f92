// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has threads that notice when old and new code run after each other

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "serve.h"

#define SPINNERS 3
#define NAPPERS 5

/* What is being switched to, and what has run since that was said. */
static atomic_int to_new, to_old, seen_new, seen_old;
static atomic_int wrong;
static atomic_long calls;

KEPT int first(int depth);
KEPT int second(int depth);

/* Old code ran. */
KEPT void note_old(void)
{
	if (to_new && seen_new)
		wrong++;
	seen_old = 1;
}

/* New code ran. */
KEPT void note_new(void)
{
	if (to_old && seen_old)
		wrong++;
	seen_new = 1;
}

int first(int depth)
{
	note_old();
	return depth ? second(depth - 1) : 1;
}

int second(int depth)
{
	note_old();
	return depth ? first(depth - 1) : 1;
}

static void *spin(void *arg)
{
	(void)arg;
	for (;;) {
		first(3);
		second(2);
		calls++;
		/* Most of the time it is elsewhere, or no moment would do for a switch. */
		for (volatile int i = 0; i < 2000; i++)
			;
	}
	return NULL;
}

static void *nap(void *arg)
{
	const struct timespec pause = { .tv_nsec = 20000 };

	(void)arg;
	for (;;) {
		nanosleep(&pause, NULL);
		second(1);
		first(1);
		calls++;
	}
	return NULL;
}

static void start(void)
{
	pthread_t thread;

	for (int i = 0; i < SPINNERS; i++)
		pthread_create(&thread, NULL, spin, NULL);
	for (int i = 0; i < NAPPERS; i++)
		pthread_create(&thread, NULL, nap, NULL);
}

/* Waits until all threads have been through, probably. */
static void let_run(void)
{
	long from = calls;

	while (calls < from + 200)
		;
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "start")) {
		start();
	} else if (!strcmp(request, "to new")) {
		to_old = seen_new = 0;
		to_new = 1;
	} else if (!strcmp(request, "to old")) {
		to_new = seen_old = 0;
		to_old = 1;
	}
	let_run();
	snprintf(reply, size, "%d wrong, now %s", wrong, first(0) + second(0) == 2 ? "old" : "new");
}
