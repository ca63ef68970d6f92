// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a table of places in functions

#include <stdio.h>
#include <string.h>

#include "serve.h"

struct place {
	int line;
	int used;
};

extern struct place __start_places[], __stop_places[];

KEPT static int work(int x)
{
	static struct place place __attribute__((section("places"), used)) = { 17, 0 };

	place.used++;
	return x;
}

KEPT static int rest(int x)
{
	static struct place place __attribute__((section("places"), used)) = { 28, 0 };

	place.used++;
	return x;
}

void answer(const char *request, char *reply, size_t size)
{
	int n = work(rest((int)strlen(request)));

	snprintf(reply, size, "%d %d", n, (int)(__stop_places - __start_places));
}
