// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - sets a variable up before main

#include <stdio.h>

#include "serve.h"

static int start;

static __attribute__((constructor)) KEPT void begin(void)
{
	start = 5;
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%d old", start);
}
