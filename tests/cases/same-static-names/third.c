// SPDX-License-Identifier: GPL-3.0-or-later
// third.c - one of three alike

#include "serve.h"

int third(void);

static int state = 20;

static KEPT int step(void)
{
	return ++state;
}

int third(void)
{
	return step();
}
