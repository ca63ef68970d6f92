// SPDX-License-Identifier: GPL-3.0-or-later
// stack.c - takes much stack

#include <uspl/probe.h>

int uspl_probe(struct uspl_hit *hit)
{
	volatile char much[4000];

	much[hit->args[0] & 1023] = 1;
	return much[5];
}
