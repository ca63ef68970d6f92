// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - keeps the address of a function where nothing says what it takes

#include <stdio.h>

#include "serve.h"

static int add(int number)
{
	return number + 1;
}

static void *kept;

void answer(const char *request, char *reply, size_t size)
{
	int (*call)(int);

	(void)request;
	if (!kept)
		kept = (void *)add;
	call = (int (*)(int))kept;
	snprintf(reply, size, "%d", call(5));
}
