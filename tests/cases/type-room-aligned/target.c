// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a structure with seven bytes of padding

#include <stdio.h>

#include "serve.h"

struct room {
	char first;
	long second;
};

static struct room room = { 1, 2 };

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%d %ld", room.first, room.second);
}
