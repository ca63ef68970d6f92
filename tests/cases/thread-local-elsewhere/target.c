// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - sets the library's variable

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

extern __thread int added;
int plus(int n);

KEPT static void set(int n)
{
	added = n;
}

void answer(const char *request, char *reply, size_t size)
{
	set(5);
	snprintf(reply, size, "%d", plus(atoi(request)));
}
