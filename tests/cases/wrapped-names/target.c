// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - calls functions that others stand in for

#include <stdio.h>
#include <unistd.h>

#include "serve.h"

int other(void);
int third(void);
int __real_third(void);

KEPT static int value(void)
{
	return 1;
}

KEPT static int more(void)
{
	return 0;
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%d %d", value(), more());
}
