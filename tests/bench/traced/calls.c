// SPDX-License-Identifier: GPL-3.0-or-later
// calls.c - what a call costs, by the thread's own clock: for each line on stdin a line `leaf fib
// rdtsc`, in ns
//
// Built in several ways (plain, with NOPs, with -pg), run bare, traced by uspl-trace, and under
// other tracers.

#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define CALLS 400000
#define FIB 22
#define FIB_CALLS 57313 /* that fib(FIB) makes */

#if defined(__has_attribute) && __has_attribute(noipa)
#define KEPT __attribute__((noipa))
#else
#define KEPT __attribute__((noinline))
#endif
#define UNTRACED __attribute__((no_instrument_function, noinline))

KEPT long leaf(long x)
{
	__asm__ volatile("");
	return x + 1;
}

KEPT long fib(long n)
{
	long a, b;

	if (n < 2)
		return n;
	a = fib(n - 1);
	b = fib(n - 2);
	__asm__ volatile("" : "+r"(b));
	return a + b;
}

UNTRACED static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

UNTRACED static double time_leaf(void)
{
	double from = now_ns();
	long sum = 0;

	for (long i = 0; i < CALLS; i++)
		sum += leaf(i);
	__asm__ volatile("" : : "r"(sum));
	return (now_ns() - from) / CALLS;
}

UNTRACED static double time_fib(void)
{
	double from = now_ns();

	fib(FIB);
	return (now_ns() - from) / FIB_CALLS;
}

UNTRACED static double time_rdtsc(void)
{
	double from = now_ns();
	uint64_t sum = 0;

	for (long i = 0; i < CALLS; i++)
		sum += __builtin_ia32_rdtsc();
	__asm__ volatile("" : : "r"(sum));
	return (now_ns() - from) / CALLS;
}

UNTRACED int main(void)
{
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		printf("%.3f %.3f %.3f\n", time_leaf(), time_fib(), time_rdtsc());
		fflush(stdout);
	}
	return 0;
}
