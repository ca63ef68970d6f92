// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - calls one function of libc, and with the patch another one

#include <stdio.h>
#include <string.h>

#include "serve.h"

void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "hello, %s", request);
}
