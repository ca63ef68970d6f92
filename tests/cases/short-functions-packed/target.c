// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has functions of few bytes

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

static int touched;

KEPT int nothing(void);
KEPT void touch(void);

int nothing(void)
{
	return 0;
}

void touch(void)
{
}

void answer(const char *request, char *reply, size_t size)
{
	touched = 0;
	touch();
	snprintf(reply, size, "%d %d", atoi(request) == 5 ? nothing() : -1, touched);
}
