// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - calls a function directly and by a stored pointer

#include <stdio.h>
#include <string.h>

#include "serve.h"

static const char *(*volatile stored)(void);

static KEPT const char *none(void)
{
	return "none";
}

static KEPT const char *old_way(void)
{
	return "old way";
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "store"))
		stored = old_way;
	if (!strcmp(request, "call"))
		snprintf(reply, size, "%s", old_way());
	else if (!strcmp(request, "stored"))
		snprintf(reply, size, "%s", (stored ? stored : none)());
	else
		snprintf(reply, size, "stored");
}
