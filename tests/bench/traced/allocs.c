// SPDX-License-Identifier: GPL-3.0-or-later
// allocs.c - a program that does nothing but allocate, write and free: says that it is ready, waits
// for a line, then prints the nanoseconds of processor time of each round

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLOTS 4096
#define PAIRS 1000000

static void *slots[SLOTS];

int main(void)
{
	struct timespec from, to;
	unsigned random = 1;

	puts("ready");
	fflush(stdout);
	if (getchar() == EOF)
		return 1;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	for (int i = 0; i < PAIRS; i++) {
		unsigned slot, size;

		random = random * 1103515245 + 12345;
		slot = random >> 8 & (SLOTS - 1);
		size = 16 + (random >> 20 & 1023);
		free(slots[slot]);
		slots[slot] = malloc(size);
		if (slots[slot])
			memset(slots[slot], 1, size);
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	printf("%.2f\n",
	       ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) /
		       PAIRS);
	return 0;
}
