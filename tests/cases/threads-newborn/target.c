// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - one thread after the other works for a moment, each on a stack at a new place

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "serve.h"

#define STACK (64l << 10)
#define STEP (1l << 20)
#define PLACES (1l << 20)

KEPT int work(int n);

int work(int n)
{
	return n + 1;
}

static void *turn(void *arg)
{
	volatile int n = 0;

	for (int i = 0; i < 300000; i++)
		n = work(n);
	return arg;
}

static void map(char *place, int prot)
{
	if (mmap(place, STACK, prot, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		 0) != place)
		abort();
}

static void run_thread(char *stack)
{
	pthread_attr_t attr;
	pthread_t thread;

	map(stack, PROT_READ | PROT_WRITE);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, STACK);
	if (pthread_create(&thread, &attr, turn, NULL))
		abort();
	pthread_join(thread, NULL);
	map(stack, PROT_NONE);
}

static void *bear(void *arg)
{
	char *places = mmap(NULL, STEP * PLACES, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (places == MAP_FAILED)
		abort();
	for (long i = 0;; i = (i + 1) % PLACES)
		run_thread(places + i * STEP);
	return arg;
}

void answer(const char *request, char *reply, size_t size)
{
	static pthread_t thread;

	if (!strcmp(request, "start") && pthread_create(&thread, NULL, bear, NULL))
		abort();
	snprintf(reply, size, "%d", work(0));
}
