// SPDX-License-Identifier: GPL-3.0-or-later
// endless.c - comes to no end where its first argument is 7 or more, and records all others

#include <uspl/probe.h>

int uspl_probe(struct uspl_hit *hit)
{
	volatile unsigned long *first = &hit->args[0];

	while (*first >= 7)
		;
	return 1;
}
