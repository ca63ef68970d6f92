// SPDX-License-Identifier: GPL-3.0-or-later
// held.c - stays inside for as long as the word says that its argument leads to, and says so in the
// next one

#include <uspl/probe.h>

int uspl_probe(struct uspl_hit *hit)
{
	volatile int *words = (volatile int *)hit->args[0];

	words[1] = 1;
	while (!words[0])
		__asm__ volatile("pause");
	return 1;
}
