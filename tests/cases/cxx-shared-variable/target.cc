// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - uses the library

#include <cstdio>

#include "count.h"

extern "C" {
#include "serve.h"
}

extern "C" void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%d", count());
}
