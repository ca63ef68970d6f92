// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - a static variable with a constructor

#include <cstdio>
#include <string>

extern "C" {
#include "serve.h"
}

KEPT static std::string &log()
{
	static std::string text("log: ");

	return text;
}

extern "C" void answer(const char *request, char *reply, size_t size)
{
	log() += request;
	snprintf(reply, size, "%s", log().c_str());
}
