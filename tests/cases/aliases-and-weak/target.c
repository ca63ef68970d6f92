// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - functions with two names, or that may be absent

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

int first(int n);
int second(int n) __attribute__((alias("first")));
int chosen(int n);
int absent(int n) __attribute__((weak));

KEPT int first(int n)
{
	return n + 10;
}

__attribute__((weak)) KEPT int chosen(int n)
{
	return n + 1;
}

void answer(const char *request, char *reply, size_t size)
{
	int n = atoi(request);

	snprintf(reply, size, "%d %d %d %s", first(n), second(n), chosen(n),
		 absent ? "some" : "none");
}
