// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - calls a function by an address that another unit keeps

#include <stdio.h>
#include <string.h>

#include "add.h"
#include "serve.h"

KEPT int add(int number)
{
	return number + 1;
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "kept"))
		snprintf(reply, size, "%d", ((int (*)(int))callback)(1));
	else
		snprintf(reply, size, "%d", add(41));
}
