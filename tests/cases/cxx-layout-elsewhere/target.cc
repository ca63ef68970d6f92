// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - uses an object

#include <cstdio>

extern "C" {
#include "serve.h"
}
#include "conn.h"

extern "C" void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%d", the_conn()->limit + the_conn()->fd);
}
