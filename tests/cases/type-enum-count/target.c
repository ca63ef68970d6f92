// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has a state

#include <stdio.h>

#include "serve.h"

enum state {
	STATE_IDLE,
	STATE_BUSY,
	STATE_COUNT,
};

enum state now = STATE_BUSY;

KEPT static const char *show(void)
{
	static const char *const names[STATE_COUNT] = {
		"idle",
		"busy",
	};

	return names[now];
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%s of %d", show(), STATE_COUNT);
}
