// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - repeats words

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

KEPT void words(const char *request, char *reply, size_t size);

void words(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "%s", request);
}

void answer(const char *request, char *reply, size_t size)
{
	if (!*request)
		fputs("empty", stderr);
	words(request, reply, size);
}
