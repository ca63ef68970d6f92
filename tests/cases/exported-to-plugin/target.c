// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has a function for plugins

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

int plus(int n);

KEPT int plus(int n)
{
	return n + 1;
}

void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "%d", plus(atoi(request)));
}
