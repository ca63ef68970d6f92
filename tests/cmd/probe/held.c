// SPDX-License-Identifier: GPL-3.0-or-later
// held.c - reads where its argument leads, which takes as long as the target's signal handler does

#include <uspl/probe.h>

int uspl_probe(struct uspl_hit *hit)
{
	volatile int *word = (volatile int *)hit->args[0];

	return word[0] + 1;
}
