// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - in both programs

#include <stdio.h>

#include "serve.h"
#include "shared.h"

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%s %s", name(), version());
}
