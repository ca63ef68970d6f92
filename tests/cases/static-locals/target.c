// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has static variables of one name

#include <stdio.h>

#include "serve.h"

KEPT int first(void);
KEPT int second(void);
KEPT void tell(char *reply, size_t size);

int first(void)
{
	static int count;

	return ++count;
}

int second(void)
{
	static int count = 100;

	return ++count;
}

void tell(char *reply, size_t size)
{
	int a = first(), b = second();

	snprintf(reply, size, "%d %d", a, b);
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	tell(reply, size);
}
