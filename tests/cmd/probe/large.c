// SPDX-License-Identifier: GPL-3.0-or-later
// large.c - records calls with a large first argument, and the first letter of where it is

#include <uspl/probe.h>

int uspl_probe(struct uspl_hit *hit)
{
	hit->args[5] = (unsigned long)hit->marker[0];
	return hit->args[0] > 2;
}
