// SPDX-License-Identifier: GPL-3.0-or-later
// a.c - part a

#include <stdio.h>

#include "parts.h"
#include "serve.h"

static int count;

static KEPT int next(void)
{
	return ++count;
}

void part_a(char *text, size_t size)
{
	snprintf(text, size, "a%d", next());
}
