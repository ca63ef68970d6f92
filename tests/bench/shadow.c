// SPDX-License-Identifier: GPL-3.0-or-later
// shadow.c - what a look-up, an alloc and a free of a shadow variable cost: shadow
//
// For 1, 1000 and 100000 objects, each of 64 bytes: the best of several rounds, in ns, in one
// thread, with the objects in an order of their own. "object": a look at the object itself, in the
// same order: with many of them both wait for memory.

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "uspl/shadow.h"

enum { OBJECTS_MAX = 100000, CALLS = 1000000, ROUNDS = 15 };

USPL_SHADOW(bench, long, NULL, NULL);

static void *objects[OBJECTS_MAX];

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* The objects in the order in which they are asked for. */
static void mix(size_t n)
{
	unsigned int seed = 1;

	for (size_t i = n; i > 1; i--) {
		size_t other = (size_t)rand_r(&seed) % i;
		void *object = objects[i - 1];

		objects[i - 1] = objects[other];
		objects[other] = object;
	}
}

static long sum;

static double time_get(size_t n)
{
	double begin = now_ns();

	for (size_t i = 0, at = 0; i < CALLS; i++) {
		long *data = uspl_shadow_get(&bench, objects[at]);

		sum += data ? *data : -1;
		at = at + 1 < n ? at + 1 : 0;
	}
	return (now_ns() - begin) / CALLS;
}

static double time_object(size_t n)
{
	double begin = now_ns();

	for (size_t i = 0, at = 0; i < CALLS; i++) {
		sum += *(volatile long *)objects[at];
		at = at + 1 < n ? at + 1 : 0;
	}
	return (now_ns() - begin) / CALLS;
}

/* What most objects don't have. */
static double time_miss(void)
{
	double begin = now_ns();

	for (size_t i = 0; i < CALLS; i++)
		sum += uspl_shadow_get(&bench, (char *)objects[0] + 1 + i % 7) != NULL;
	return (now_ns() - begin) / CALLS;
}

static double time_pair(void)
{
	char object[64];
	double begin = now_ns();

	for (size_t i = 0; i < CALLS / 10; i++) {
		sum += uspl_shadow_alloc(&bench, object) != NULL;
		uspl_shadow_free(&bench, object);
	}
	return (now_ns() - begin) / (CALLS / 10);
}

static double less(double a, double b)
{
	return a < b ? a : b;
}

int main(void)
{
	static const size_t numbers[] = { 1, 1000, OBJECTS_MAX };

	for (size_t i = 0; i < OBJECTS_MAX; i++)
		objects[i] = calloc(1, 64);
	printf("%8s %8s %8s %8s %16s\n", "objects", "get", "absent", "object", "alloc and free");
	for (size_t k = 0; k < sizeof(numbers) / sizeof(*numbers); k++) {
		double get = 1e9, miss = 1e9, object = 1e9, pair = 1e9;

		for (size_t i = 0; i < numbers[k]; i++)
			if (!uspl_shadow_get_or_alloc(&bench, objects[i]))
				return 1;
		mix(numbers[k]);
		for (int round = 0; round < ROUNDS; round++) {
			get = less(get, time_get(numbers[k]));
			miss = less(miss, time_miss());
			object = less(object, time_object(numbers[k]));
			pair = less(pair, time_pair());
		}
		printf("%8zu %8.1f %8.1f %8.1f %16.1f\n", numbers[k], get, miss, object, pair);
	}
	return sum == 42;
}
