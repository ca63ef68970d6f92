// SPDX-License-Identifier: GPL-3.0-or-later
// libc.c - wants a C library

#include <uspl/probe.h>

int printf(const char *format, ...);

int uspl_probe(struct uspl_hit *hit)
{
	return printf("%s\n", hit->marker);
}
