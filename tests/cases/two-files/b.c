// SPDX-License-Identifier: GPL-3.0-or-later
// b.c - part b

#include <stdio.h>

#include "parts.h"
#include "serve.h"

static int count;

static KEPT int next(void)
{
	return ++count;
}

void part_b(char *text, size_t size)
{
	snprintf(text, size, "b%d", next());
}
