// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - branches that the program counts itself

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <uspl/branch.h>

#include "serve.h"

#define THREADS 4

long pick(long x), loop(long n);

/* Inlined twice. */
static inline long weigh(long x)
{
	if (uspl_unlikely(x % 5 == 0))
		return 7;
	return 1;
}

KEPT long pick(long x)
{
	if (uspl_likely(x & 3))
		return weigh(x);
	return 10 + weigh(x + 1);
}

KEPT long loop(long n)
{
	long sum = 0;

	while (uspl_likely(n-- > 0))
		sum += pick(n);
	return sum;
}

static void *loop_in_thread(void *arg)
{
	*(long *)arg = loop(*(long *)arg);
	return NULL;
}

static long loop_in_threads(long n)
{
	pthread_t threads[THREADS];
	long values[THREADS], sum = 0;

	for (int i = 0; i < THREADS; i++) {
		values[i] = n;
		pthread_create(&threads[i], NULL, loop_in_thread, &values[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += values[i];
	}
	return sum;
}

void answer(const char *request, char *reply, size_t size)
{
	long n = 0;

	sscanf(request, "%*s %ld", &n);
	if (!strncmp(request, "loop ", 5))
		n = loop(n);
	else if (!strncmp(request, "threads ", 8))
		n = loop_in_threads(n);
	snprintf(reply, size, "%ld", n);
}
