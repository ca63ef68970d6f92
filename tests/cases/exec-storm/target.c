// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - says which version it is

#include <stdio.h>

#include "serve.h"

KEPT const char *text(void);

const char *text(void)
{
	return "old";
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%s", text());
}
