// SPDX-License-Identifier: GPL-3.0-or-later
// wrong.c - doesn't compile

#include <uspl/probe.h>

int uspl_probe(struct uspl_hit *hit)
{
	return hit->nosuch;
}
