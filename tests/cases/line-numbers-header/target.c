// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - two functions that use a header

#include "limits.h"

#include <stdio.h>
#include <string.h>

#include "serve.h"

static KEPT int first(const char *request)
{
	return checked((int)strlen(request));
}

static KEPT int second(const char *request)
{
	return checked(request[0]);
}

void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "%d %d %s", first(request), second(request), __FILE__);
}
