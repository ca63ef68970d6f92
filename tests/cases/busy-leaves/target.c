// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has threads that are in a function and leave it in different ways

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "serve.h"

#define CROWD 40

enum way { RETURN, RECURSE, JUMP, END, CROWDED, AGAIN };

KEPT const char *busy(enum way way, int depth);
KEPT void nap_often(int naps);

static atomic_int inside;
static atomic_bool leave, stop;
static __thread jmp_buf out;

static void spin(long ns)
{
	struct timespec from, now;

	clock_gettime(CLOCK_MONOTONIC, &from);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec - from.tv_nsec < ns);
}

/* Until the threads are told to leave, and a little longer. */
void nap_often(int naps)
{
	while (!leave || naps--)
		usleep(1000);
}

const char *busy(enum way way, int depth)
{
	int before = inside++;

	if (way == AGAIN) {
		spin(300000);
	} else if (way == RECURSE && depth < 10) {
		busy(way, depth + 1);
		nap_often(20);
	} else {
		nap_often(100 + before);
	}
	if (way == JUMP)
		longjmp(out, 1);
	if (way == END)
		pthread_exit(NULL);
	return "old";
}

static void *run(void *arg)
{
	enum way way = (enum way)(size_t)arg;

	do {
		if (!setjmp(out))
			busy(way, 0);
	} while (way == AGAIN && !stop);
	return NULL;
}

static void begin(enum way way)
{
	int threads = way == CROWDED ? CROWD : 1;
	pthread_t thread;

	inside = 0;
	leave = false;
	for (int i = 0; i < threads; i++) {
		pthread_create(&thread, NULL, run, (void *)(size_t)way);
		pthread_detach(thread);
	}
	while (inside < threads)
		usleep(100);
}

static const char *const ways[] = { "return", "recurse", "jump", "end", "crowd", "again" };

void answer(const char *request, char *reply, size_t size)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(request, ways[i]))
			begin((enum way)i);
	if (!strcmp(request, "leave"))
		leave = true;
	stop = !strcmp(request, "stop");
	snprintf(reply, size, "%s", "ok");
}
