// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has threads that notice when old and new code of several modules run after each other

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "calls.h"
#include "serve.h"

#define SPINNERS 2
#define NAPPERS 3

/* What is being switched to, and what has run since that was said. */
static atomic_int to_new, to_old, seen_new, seen_old;
static atomic_int wrong, only_libraries;
static atomic_long calls;

/* Old code ran. */
void note_old(void)
{
	if (to_new && seen_new)
		wrong++;
	seen_old = 1;
}

/* New code ran. */
void note_new(void)
{
	if (to_old && seen_old)
		wrong++;
	seen_new = 1;
}

KEPT int first(int depth)
{
	if (!only_libraries)
		note_old();
	return depth ? second(depth - 1) : 1;
}

static void *spin(void *arg)
{
	(void)arg;
	for (;;) {
		first(4);
		second(3);
		third(2);
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
		third(1);
		second(1);
		first(1);
		calls++;
	}
	return NULL;
}

static void start(int spinners)
{
	pthread_t thread;

	for (int i = 0; i < spinners; i++)
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
		start(SPINNERS);
	} else if (!strcmp(request, "nap")) {
		start(0);
	} else if (!strcmp(request, "only libraries")) {
		only_libraries = 1;
	} else if (!strcmp(request, "to new")) {
		to_old = seen_new = 0;
		to_new = 1;
	} else if (!strcmp(request, "to old")) {
		to_new = seen_old = 0;
		to_old = 1;
	}
	let_run();
	snprintf(reply, size, "%d wrong, now %d %d %d", wrong, first(0), second(0), third(0));
}
