// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - a variable with a constructor

#include <cstdio>
#include <string>

extern "C" {
#include "serve.h"
}

static std::string text("x");

extern "C" void answer(const char *, char *reply, size_t size)
{
	snprintf(reply, size, "%s", text.c_str());
}
