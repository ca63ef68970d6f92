// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - the first of three alike

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

int second(void);
int third(void);

static int state;

static KEPT int step(void)
{
	return ++state;
}

void answer(const char *request, char *reply, size_t size)
{
	int a = step(), b = second(), c = third();

	(void)request;
	snprintf(reply, size, "%d %d %d", a, b, c);
}
