// SPDX-License-Identifier: GPL-3.0-or-later
// every.c - records each tenth hit of app:step, with what it has counted itself

#include <uspl/probe.h>

static unsigned long hits, seen[4];

static unsigned long sum(const unsigned long *values, int n)
{
	unsigned long all = 0;

	for (int i = 0; i < n; i++)
		all += values[i];
	return all;
}

int uspl_probe(struct uspl_hit *hit)
{
	unsigned long n = __atomic_add_fetch(&hits, 1, __ATOMIC_RELAXED);

	seen[n & 3] = hit->args[0];
	if (hit->n_args != 4 || hit->marker[4] != 's' || n % 10)
		return 0;
	hit->args[0] = n;
	hit->args[3] = sum(seen, 4);
	return 1;
}
