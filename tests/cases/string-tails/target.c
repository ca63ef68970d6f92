// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - answers with strings that end alike

#include <stdio.h>

#include "serve.h"

KEPT const char *whole(void)
{
	return "no such file";
}

KEPT const char *middle(void)
{
	return "such file";
}

KEPT const char *last(void)
{
	return "file";
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%s,%s,%s", whole(), middle(), last());
}
