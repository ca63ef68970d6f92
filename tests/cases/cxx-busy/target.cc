// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - sleeps in a function, or throws

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

extern "C" {
#include "serve.h"
}

KEPT static void work(const char *request)
{
	char line[LINE_SIZE];

	if (strcmp(request, "doze"))
		throw std::runtime_error(std::string("old ") + request);
	next_line(line);
}

extern "C" void answer(const char *request, char *reply, size_t size)
{
	try {
		work(request);
		snprintf(reply, size, "awake");
	} catch (const std::exception &e) {
		snprintf(reply, size, "%s", e.what());
	}
}
