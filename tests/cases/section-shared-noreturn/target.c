// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - two functions in one section, of which the first ends with a call

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

#define OWN __attribute__((section(".text.own"), noinline, noclone, used))

static OWN void end(const char *why)
{
	fprintf(stderr, "%s\n", why);
	abort();
}

static OWN int second(int x)
{
	return x * 2;
}

void answer(const char *request, char *reply, size_t size)
{
	if (!*request)
		end("nothing asked");
	snprintf(reply, size, "%d", second(*request));
}
