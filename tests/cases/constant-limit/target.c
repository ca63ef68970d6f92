// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a limit, a time and a flag

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "serve.h"

struct state {
	long flags;
	long seen;
};

static struct state state;

KEPT static const char *check(long n)
{
	return n < 100003 ? "fine" : "too much";
}

KEPT static void note(struct state *to)
{
	to->flags = 0x123456;
	to->seen = 1;
}

KEPT static void pause_for(void)
{
	usleep(100007);
}

void answer(const char *request, char *reply, size_t size)
{
	long n = atol(request);

	note(&state);
	if (n < 0)
		pause_for();
	snprintf(reply, size, "%s %ld", check(n), state.seen);
}
