// SPDX-License-Identifier: GPL-3.0-or-later
// recursion.c - calls itself

#include <uspl/probe.h>

__attribute__((noinline)) static long fib(long n)
{
	volatile long kept = n;

	return n < 2 ? kept : fib(n - 1) + fib(n - 2) * kept;
}

int uspl_probe(struct uspl_hit *hit)
{
	return fib((long)hit->args[0]) > 5;
}
