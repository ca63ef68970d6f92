// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - answers with string literals

#include <stdio.h>
#include <string.h>

#include "serve.h"

KEPT const char *one(void);
KEPT const char *two(void);
KEPT void name(char *reply, size_t size);
KEPT void answer_name(char *reply, size_t size);

const char *one(void)
{
	return "shared text/one" + 0;
}

const char *two(void)
{
	return "shared text/two" + 0;
}

void answer_name(char *reply, size_t size)
{
	snprintf(reply, size, "%s", __func__);
}

void name(char *reply, size_t size)
{
	answer_name(reply, size);
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "one"))
		snprintf(reply, size, "%s", one());
	else if (!strcmp(request, "two"))
		snprintf(reply, size, "%s", two());
	else
		name(reply, size);
}
