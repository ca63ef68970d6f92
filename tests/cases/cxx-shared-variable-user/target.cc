// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - has a counter

#include <cstdio>
#include <cstdlib>

extern "C" {
#include "serve.h"
}

#include "count.h"

extern "C" void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "%d", counter = count(atoi(request)));
}
