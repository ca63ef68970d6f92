// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has a thread that spins in a function whose loop is all of it

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "serve.h"

#define TURNS (1ul << 26)

KEPT void spin(atomic_ulong *rounds, atomic_bool *stop, long unused, unsigned long n);

static atomic_bool leave;
static atomic_ulong rounds;
static pthread_t spinner;

/* Its first instruction is a loop of its own, where a thread is nearly always seen. */
void spin(atomic_ulong *count, atomic_bool *stop, long unused, unsigned long n)
{
	(void)unused;
	do {
		__asm__ volatile("1: loop 1b" : "+c"(n));
		atomic_store_explicit(count, 1, memory_order_relaxed);
		n = TURNS;
	} while (!*stop);
}

static void *run(void *arg)
{
	spin(&rounds, &leave, 0, TURNS);
	return arg;
}

void answer(const char *request, char *reply, size_t size)
{
	const char *words = "spinning";

	if (!strcmp(request, "spin")) {
		pthread_create(&spinner, NULL, run, NULL);
		while (!rounds)
			;
	} else if (!strcmp(request, "leave")) {
		leave = true;
		pthread_join(spinner, NULL);
		words = "left";
	} else {
		rounds = 0;
		spin(&rounds, &leave, 0, TURNS);
		words = rounds < 1000 ? "old" : "new";
	}
	snprintf(reply, size, "%s", words);
}
