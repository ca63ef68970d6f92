// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has a variable with two values

#include <stdio.h>

#include "serve.h"

static int state;

KEPT static void begin(int key)
{
	if (key == 'x')
		state = 700;
}

KEPT static const char *show(void)
{
	return state == 700 ? "on" : "off";
}

void answer(const char *request, char *reply, size_t size)
{
	begin(request[0]);
	snprintf(reply, size, "%s", show());
}
