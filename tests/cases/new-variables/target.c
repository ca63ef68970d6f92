// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - says that it is old

#include <stdio.h>

#include "serve.h"

KEPT void tell(char *reply, size_t size);

void tell(char *reply, size_t size)
{
	snprintf(reply, size, "old");
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	tell(reply, size);
}
