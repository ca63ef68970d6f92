// SPDX-License-Identifier: GPL-3.0-or-later
// pointer.c - calls what a pointer says

#include <uspl/probe.h>

int (*volatile pointer)(struct uspl_hit *);

int uspl_probe(struct uspl_hit *hit)
{
	return pointer(hit) + 1;
}
