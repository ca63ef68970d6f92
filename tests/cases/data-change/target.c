// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has a limit

#include <stdio.h>

#include "serve.h"

int limit = 7;

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "limit %d", limit);
}
