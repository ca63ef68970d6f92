// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - a limit in a namespace, and a name

#include <cstdio>
#include <cstring>
#include <string>

extern "C" {
#include "serve.h"
}

namespace shop {
int limit = 8;

KEPT std::string name()
{
	return "item";
}
} // namespace shop

extern "C" void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "name"))
		snprintf(reply, size, "%s %d", shop::name().c_str(), shop::limit);
	else
		shop::limit = atoi(request);
}
