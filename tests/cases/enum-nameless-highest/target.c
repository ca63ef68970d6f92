// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has a state, as a number

#include <stdio.h>

#include "serve.h"

enum {
	IDLE,
	BUSY,
};

int now;

KEPT static void begin(void)
{
	if (now == IDLE)
		now = BUSY;
}

KEPT static const char *show(void)
{
	return now == BUSY ? "busy" : "idle";
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	begin();
	snprintf(reply, size, "%s", show());
}
