// SPDX-License-Identifier: GPL-3.0-or-later
// second.c - one of three alike

#include "serve.h"

int second(void);

static int state = 10;

static KEPT int step(void)
{
	return ++state;
}

int second(void)
{
	return step();
}
