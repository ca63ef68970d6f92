// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - uses the header

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scale.h"
#include "serve.h"

KEPT void left(int n, char *reply, size_t size);

void left(int n, char *reply, size_t size)
{
	snprintf(reply, size, "left %d", scale(n));
}

void answer(const char *request, char *reply, size_t size)
{
	int n = atoi(strchr(request, ' '));

	if (request[0] == 'l')
		left(n, reply, size);
	else
		right(n, reply, size);
}
