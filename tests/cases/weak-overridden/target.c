// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - calls functions of which there are several

#include <stdio.h>

#include "hooks.h"
#include "serve.h"

void answer(const char *request, char *reply, size_t size)
{
	int one = request[0] == 'x';

	snprintf(reply, size, "%d %d %d %d", hook(one), scale, alone(one), first(one));
}
