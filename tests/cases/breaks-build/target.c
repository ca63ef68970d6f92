// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - compiles, until it is patched

#include <stdio.h>

#include "serve.h"

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "here");
}
