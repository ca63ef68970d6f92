// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - USDT probes with arguments in all sorts of places, each hit as often as it is asked to

#include <stdio.h>
#include <string.h>

#include "sdt.h"
#include "serve.h"

/* By which a program knows that somebody listens: the tools count it up. */
volatile unsigned short heard_semaphore __attribute__((section(".probes"), used));
/* What an argument may lie in. */
long in_memory[4] = { 11, 22, 33, 44 };

long places(long a, int b, short c, signed char d);
long around(long n);
long heard(long n);
long no_room(long n);
void aside(void);

/* Registers of all sizes, numbers, memory by base, by base and index, and by its name. */
KEPT long places(long a, int b, short c, signed char d)
{
	double real = 0.5;

	SDT_PROBE("test", "registers", "0", "8@%[a] -4@%k[b] -2@%w[c] -1@%b[d] -8@$-3 4@$7",
		  [a] "r"(a), [b] "r"(b), [c] "r"(c), [d] "q"(d));
	SDT_PROBE("test", "memory", "0", "8@8(%[p]) 4@(%[p],%[i],8) 8@in_memory+24(%%rip) 8f@%[x]",
		  [p] "r"(in_memory), [i] "r"(2l), [x] "x"(real));
	/* Each of the registers that a probe uses for itself. */
	SDT_PROBE("test", "used", "0", "8@%%rax 8@%%rcx 8@%%rdx 8@%%rsi 8@%%rdi 1@%%ah",
		  "a"(0x7701l), "c"(2l), "d"(3l), "S"(4l), "D"(5l));
	SDT_PROBE("test", "indexed", "0", "8@-8(%%rsi,%%rdi,8) 8@(,%%rcx,8)", "S"(in_memory),
		  "D"(3l), "c"((long)in_memory / 8 + 1), "m"(in_memory));
	return a + b + c + d;
}

/* What lies around the NOP and is moved with it: a branch, a call, an operand relative to %rip. */
KEPT long around(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++) {
		SDT_PROBE("test", "before_branch", "0", "-8@%[i]", [i] "r"(i));
		if (i & 1)
			sum += in_memory[0];
		SDT_PROBE("test", "before_load", "0", "-8@%[sum]", [sum] "r"(sum));
		sum += in_memory[1];
	}
	return sum;
}

KEPT long heard(long n)
{
	long hits = 0;

	for (long i = 0; i < n; i++)
		if (heard_semaphore) {
			hits++;
			SDT_PROBE("test", "heard", "heard_semaphore", "-8@%[i]", [i] "r"(i));
		}
	return hits;
}

KEPT void aside(void)
{
	__asm__ volatile("");
}

/*
 * A loop begins right behind the NOP: a jump there would be jumped into. And what a call returns to
 * can't be moved with the call.
 */
KEPT long no_room(long n)
{
	aside();
	SDT_PROBE("test", "no_room", "0", "4@$1", "r"(n));
	__asm__ volatile("1: dec %0\n jns 1b" : "+r"(n));
	return n;
}

void answer(const char *request, char *reply, size_t size)
{
	long n = 0;

	sscanf(request, "%*s %ld", &n);
	if (!strncmp(request, "places", 6))
		n = places(100, -4, -2, -1);
	else if (!strncmp(request, "around ", 7))
		n = around(n);
	else if (!strncmp(request, "heard ", 6))
		n = heard(n);
	else if (!strncmp(request, "no_room ", 8))
		n = no_room(n);
	snprintf(reply, size, "%ld", n);
}
