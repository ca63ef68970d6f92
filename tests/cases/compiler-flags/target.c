// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a switch, a buffer on the stack, a call of the C library

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

static KEPT const char *name(int n)
{
	switch (n) {
	case 0:
		return "none";
	case 1:
		return "one";
	case 2:
		return "two";
	case 3:
		return "three";
	default:
		return "many";
	}
}

static KEPT int count(int n)
{
	return n < 0 ? -n : n;
}

static KEPT void repeat(int n, char *text, size_t size)
{
	char buffer[40] = "";

	for (int i = 0; i < n - 1; i++)
		buffer[i] = (char)('a' + i);
	snprintf(text, size, "%s", buffer);
}

void answer(const char *request, char *reply, size_t size)
{
	char text[60];
	int n = atoi(request);

	repeat(n, text, sizeof(text));
	snprintf(reply, size, "%s %d %s", name(n), count(n), text);
}
