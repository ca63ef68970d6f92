// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - counts what is made and destroyed

#include <cstdio>
#include <cstring>
#include <thread>

extern "C" {
#include "serve.h"
}

static int made, gone, asked;

struct Thing {
	int number;
	Thing();
	~Thing();
};

KEPT static void note_made()
{
	made++;
}

KEPT static void note_gone()
{
	gone++;
}

Thing::Thing() : number(7)
{
	note_made();
}

Thing::~Thing()
{
	note_gone();
}

KEPT static void tell(const char *who, char *reply, size_t size)
{
	snprintf(reply, size, "%s %d", who, ++asked);
}

extern "C" void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "main"))
		return tell("main", reply, size);
	if (!strcmp(request, "thing")) {
		Thing thing;

		snprintf(reply, size, "%d", thing.number);
		return;
	}
	std::thread([=] { tell("thread", reply, size); }).join();
}
