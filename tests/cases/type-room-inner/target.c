// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a structure with a nameless union in it

#include <stdio.h>

#include "serve.h"

struct room {
	union {
		int whole;
		char low;
	};
	char after;
	long last;
};

static struct room room = { .after = 2, .last = 3 };

void answer(const char *request, char *reply, size_t size)
{
	room.low = request[0];
	snprintf(reply, size, "%d %d %ld", room.whole, room.after, room.last);
}
