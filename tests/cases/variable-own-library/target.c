// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - counts calls, in a variable of the C library

#include <stdio.h>

#include "serve.h"

extern int optind;

KEPT static int count(void)
{
	return ++optind;
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%d", count());
}
