// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - uses the library

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

int plus(int n);
int twice(int n);

void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "%d", plus(atoi(request)));
}
