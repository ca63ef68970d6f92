// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - repeats what it is asked

#include <stdio.h>

#include "serve.h"

KEPT void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "old %s", request);
}
