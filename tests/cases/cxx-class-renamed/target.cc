// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - asks an object what it is

#include <cstdio>
#include <cstring>

extern "C" {
#include "serve.h"
}

struct animal {
	virtual ~animal() {}
};

struct dog : animal {
	int legs = 4;
};

static animal *kept;

static __attribute__((noinline)) int legs_of(animal *some)
{
	auto *known = dynamic_cast<dog *>(some);

	return known ? known->legs : -1;
}

extern "C" void answer(const char *request, char *reply, size_t size)
{
	if (!kept || !strcmp(request, "new"))
		kept = new dog;
	snprintf(reply, size, "%d", legs_of(kept));
}
