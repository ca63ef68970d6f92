// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - states without a type

#include <stdio.h>

#include "serve.h"

enum {
	IDLE,
	BUSY,
	CLOSED,
	N_STATES,
};

int state;

KEPT static void begin(void)
{
	if (state == IDLE)
		state = BUSY;
}

KEPT static const char *show(void)
{
	return state == BUSY ? "busy" : state == CLOSED ? "closed" : "closing";
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	begin();
	snprintf(reply, size, "%s, %d states", show(), N_STATES);
}
