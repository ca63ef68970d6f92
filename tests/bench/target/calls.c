// SPDX-License-Identifier: GPL-3.0-or-later
// calls.c - what a call costs: for each line on standard input a line with three times in ns a call
//
//     unpatched function, function that the patch changes, function behind a direct jump

#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

#define CALLS 4000000
#define ROUNDS 25
#define LIFETIME_SECONDS 300

/*
 * Seconds for CALLS calls that don't wait for each other's results: there a jump more shows most. A
 * macro, since a call through a pointer would be another thing.
 */
#define TIME_CALLS(function)                                                                       \
	({                                                                                         \
		struct timespec from, to;                                                          \
		clock_gettime(CLOCK_MONOTONIC, &from);                                             \
		for (uint64_t i = 0; i < CALLS; i++)                                               \
			__asm__ volatile("" : : "r"(function(i)));                                 \
		clock_gettime(CLOCK_MONOTONIC, &to);                                               \
		(double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;     \
	})

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

/* The best of several rounds, the three of them in turn, so that all see the same machine. */
static void measure(void)
{
	double unpatched = 1e9, patched = 1e9, jump = 1e9;

	for (int i = 0; i < ROUNDS; i++) {
		unpatched = smaller(unpatched, TIME_CALLS(work_unpatched));
		patched = smaller(patched, TIME_CALLS(work));
		jump = smaller(jump, TIME_CALLS(work_through_jump));
	}
	printf("%.2f %.2f %.2f\n", unpatched / CALLS * 1e9, patched / CALLS * 1e9,
	       jump / CALLS * 1e9);
	fflush(stdout);
}

int main(void)
{
	char line[16];

	alarm(LIFETIME_SECONDS);
	while (fgets(line, sizeof(line), stdin))
		measure();
	return 0;
}
