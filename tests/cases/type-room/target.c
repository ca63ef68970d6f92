// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a structure with room in it

#include <stdio.h>

#include "serve.h"

struct room {
	char first;
	int second;
	short third;
	long fourth;
};

static struct room room = { 1, 2, 3, 4 };

void answer(const char *request, char *reply, size_t size)
{
	room.first = request[0];
	snprintf(reply, size, "%d %ld", room.second, room.fourth);
}
