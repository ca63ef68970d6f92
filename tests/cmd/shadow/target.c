// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - items on the heap, some that last and many that don't, used by threads that come and
// go

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "serve.h"

#define WORKERS 4
#define LASTING 5000

struct item {
	long id;
	long touched;
};

KEPT struct item *item_new(long id);
KEPT void item_free(struct item *item);
KEPT long item_touch(struct item *item);
KEPT void tally_add(long by);

static struct item *lasting[LASTING];
static atomic_long next_id, wrong, turns, tally;
static atomic_bool quit;
static pthread_t starters[WORKERS];

/* What patches count: it must be zero when nothing of them is left. */
void tally_add(long by)
{
	tally += by;
}

struct item *item_new(long id)
{
	struct item *item = malloc(sizeof(*item));

	item->id = id;
	item->touched = 0;
	return item;
}

void item_free(struct item *item)
{
	item->id = -1;
	free(item);
}

/* The item's id; anything else is wrong. */
long item_touch(struct item *item)
{
	__atomic_fetch_add(&item->touched, 1, __ATOMIC_RELAXED);
	return item->id;
}

/* A thread's life: some items of its own, and some that all use. */
static void *work(void *arg)
{
	size_t seed = (size_t)(uintptr_t)arg;

	for (int i = 0; i < 100; i++) {
		long id = ++next_id;
		struct item *mine = item_new(id), *shared = lasting[seed % LASTING];

		wrong += item_touch(mine) != id;
		wrong += item_touch(shared) != (long)(seed % LASTING);
		wrong += item_touch(mine) != id;
		item_free(mine);
		seed = seed * 2862933555777941757u + 3037000493u;
		turns++;
	}
	return NULL;
}

/* Starts one thread after the other. */
static void *start(void *arg)
{
	uintptr_t seed = (uintptr_t)arg;

	while (!quit) {
		pthread_t thread;

		pthread_create(&thread, NULL, work, (void *)(seed += WORKERS));
		pthread_join(thread, NULL);
		usleep(500);
	}
	return NULL;
}

static void start_all(void)
{
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&starters[i], NULL, start, (void *)(uintptr_t)i);
}

static void stop_all(void)
{
	quit = true;
	for (int i = 0; i < WORKERS; i++)
		pthread_join(starters[i], NULL);
	quit = false;
}

static void touch_lasting(void)
{
	for (long i = 0; i < LASTING; i++)
		wrong += item_touch(lasting[i]) != i;
}

/* What item_touch says in a child of fork. */
static int touch_in_child(long i)
{
	int status;
	pid_t child = fork();

	if (!child)
		_exit(item_touch(lasting[i]) == i ? 0 : 1);
	waitpid(child, &status, 0);
	return status;
}

__attribute__((constructor)) static void make_lasting(void)
{
	for (long i = 0; i < LASTING; i++)
		lasting[i] = item_new(i);
}

void answer(const char *request, char *reply, size_t size)
{
	long i;

	if (!strcmp(request, "work"))
		start_all();
	else if (!strcmp(request, "rest"))
		stop_all();
	else if (!strcmp(request, "all"))
		touch_lasting();
	else if (sscanf(request, "touch %ld", &i) == 1)
		snprintf(reply, size, "%ld", item_touch(lasting[i]));
	else if (sscanf(request, "renew %ld", &i) == 1) {
		item_free(lasting[i]);
		lasting[i] = item_new(i);
	} else if (!strcmp(request, "child"))
		snprintf(reply, size, "%d", touch_in_child(1));
	else if (!strcmp(request, "wrong"))
		snprintf(reply, size, "%ld", (long)wrong);
	else if (!strcmp(request, "turns"))
		snprintf(reply, size, "%s", turns ? "some" : "none");
	else if (!strcmp(request, "tally"))
		snprintf(reply, size, "%ld", (long)tally);
}
