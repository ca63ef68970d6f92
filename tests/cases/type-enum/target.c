// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has a state

#include <stdio.h>

#include "serve.h"

enum state { IDLE, BUSY, LEAVING };

static volatile enum state now = BUSY;

void answer(const char *request, char *reply, size_t size)
{
	if (request[0] == 'l')
		now = LEAVING;
	snprintf(reply, size, "%s", now == BUSY ? "busy" : "not busy");
}
