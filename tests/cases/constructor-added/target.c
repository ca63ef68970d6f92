// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has a variable

#include <stdio.h>

#include "serve.h"

static volatile int start;

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%d", start);
}
