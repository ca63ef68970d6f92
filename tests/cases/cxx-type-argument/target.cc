// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - a time in an object on the heap

#include <chrono>
#include <cstdio>

extern "C" {
#include "serve.h"
}

struct config {
	std::chrono::seconds timeout;
};

static config *held;

extern "C" void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	if (!held)
		held = new config{ std::chrono::seconds(30) };
	snprintf(reply, size, "%ld",
		 (long)std::chrono::duration_cast<std::chrono::milliseconds>(held->timeout).count());
}
