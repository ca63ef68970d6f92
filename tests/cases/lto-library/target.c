// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - asks the library

#include "greet.h"
#include "serve.h"

void answer(const char *request, char *reply, size_t size)
{
	greet(request, reply, size);
}
