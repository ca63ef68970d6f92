// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - asks two sources that have the same static names

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"
#include "steps.h"

KEPT void answer(const char *request, char *reply, size_t size)
{
	int by = atoi(request);

	snprintf(reply, size, "%d %d", one(by), two(by));
}
