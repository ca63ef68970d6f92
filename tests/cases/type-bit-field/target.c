// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - remembers flags of a request

#include <stdio.h>

#include "serve.h"

struct request {
	unsigned int lingering : 1;
	unsigned int keepalive : 1;
	unsigned int closed : 1;
};

static struct request state = { .keepalive = 1 };

void answer(const char *request, char *reply, size_t size)
{
	state.closed = request[0] == 'c';
	snprintf(reply, size, "%d%d", state.keepalive, state.closed);
}
