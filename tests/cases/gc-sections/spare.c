// SPDX-License-Identifier: GPL-3.0-or-later
// spare.c - a function that is used and others that aren't, which have variables of their own

#include "serve.h"

int seven(void);
int spare(void);

static int calls;

KEPT static int next_call(void)
{
	return ++calls;
}

int spare(void)
{
	return next_call();
}

KEPT int seven(void)
{
	return 7;
}
