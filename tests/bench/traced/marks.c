// SPDX-License-Identifier: GPL-3.0-or-later
// marks.c - what a marker costs, by the thread's own clock: for each line on stdin a line `bare
// marked rdtsc`, in ns
//
// A loop without and with a marker of two integers. Built with USPL_MARK, and with -DLTTNG and
// -DSDT for the same in the form of others.

#include <stdint.h>
#include <stdio.h>
#include <time.h>

#if defined(LTTNG)
#include "marks_lttng.h"
#define MARK(a, b) lttng_ust_tracepoint(bench, two, a, b)
#elif defined(SDT)
#include <sys/sdt.h>
#define MARK(a, b) DTRACE_PROBE2(bench, two, a, b)
#else
#include <uspl/mark.h>
#define MARK(a, b) USPL_MARK(bench, two, "a=%d b=%d", a, b)
#endif

#define TURNS 400000

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

__attribute__((noinline)) static double time_bare(void)
{
	double from = now_ns();
	int sum = 0;

	for (int i = 0; i < TURNS; i++)
		__asm__ volatile("add %1, %0" : "+r"(sum) : "r"(i));
	return (now_ns() - from) / TURNS;
}

__attribute__((noinline)) static double time_marked(void)
{
	double from = now_ns();
	int sum = 0;

	for (int i = 0; i < TURNS; i++) {
		__asm__ volatile("add %1, %0" : "+r"(sum) : "r"(i));
		MARK(i, sum);
	}
	return (now_ns() - from) / TURNS;
}

static double time_rdtsc(void)
{
	double from = now_ns();
	uint64_t sum = 0;

	for (int i = 0; i < TURNS; i++)
		sum += __builtin_ia32_rdtsc();
	__asm__ volatile("" : : "r"(sum));
	return (now_ns() - from) / TURNS;
}

int main(void)
{
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		printf("%.3f %.3f %.3f\n", time_bare(), time_marked(), time_rdtsc());
		fflush(stdout);
	}
	return 0;
}
