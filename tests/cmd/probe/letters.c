// SPDX-License-Identifier: GPL-3.0-or-later
// letters.c - records every hit, with the letters of the arguments' types in place of the sixth one

#include <uspl/probe.h>

int uspl_probe(struct uspl_hit *hit)
{
	unsigned long letters = 0;

	for (unsigned long i = 0; i < hit->n_args && i < 8; i++)
		letters |= (unsigned long)hit->types[i] << 8 * i;
	hit->args[5] = letters; /* there is room for it even if there are less */
	return hit->types[hit->n_args] == 0;
}
