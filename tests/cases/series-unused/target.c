// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a program that grows in steps

#include <stdio.h>

#include "serve.h"

KEPT static int base(int n)
{
	return n;
}

void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "%d", base(request[0] == 'x'));
}
