// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - catches what the library throws

#include <cstdio>
#include <cstdlib>
#include <typeinfo>

#include "errors.h"

extern "C" {
#include "serve.h"
}

int plus(int n);

extern "C" void answer(const char *request, char *reply, size_t size)
{
	try {
		snprintf(reply, size, "%d", plus(atoi(request)));
	} catch (error &e) {
		snprintf(reply, size, "base %s", e.what());
	}
}
