// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - uses the library

#include <cstdio>
#include <cstdlib>

extern "C" {
#include "serve.h"
}

int count(int x);

extern "C" void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "%d", count(atoi(request)));
}
