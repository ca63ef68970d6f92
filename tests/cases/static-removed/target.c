// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - counts

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

static KEPT int tick(void)
{
	static int count;

	return ++count;
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%d", tick());
}
