// SPDX-License-Identifier: GPL-3.0-or-later
// unbounded.c - takes as much stack as an argument says

#include <uspl/probe.h>

int uspl_probe(struct uspl_hit *hit)
{
	volatile char much[hit->args[0] & 1023];

	much[0] = 1;
	return much[hit->args[0] & 1];
}
