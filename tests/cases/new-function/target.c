// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - repeats a number

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

KEPT void tell(int n, char *reply, size_t size);

void tell(int n, char *reply, size_t size)
{
	snprintf(reply, size, "%d", n);
}

void answer(const char *request, char *reply, size_t size)
{
	tell(atoi(request), reply, size);
}
