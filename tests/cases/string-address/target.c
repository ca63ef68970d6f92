// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - strings that stand for themselves

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

#define DEFAULT "default"

static const char *const unnamed = "nobody's name";
static const char *name;
static const char *value = DEFAULT;
static int n = 1;

KEPT static void set(const char *to)
{
	if (value != (const char *)DEFAULT)
		free((char *)value);
	value = to ? strdup(to) : DEFAULT;
	n += to != NULL;
}

KEPT static void start(void)
{
	if (!name)
		name = unnamed;
}

void answer(const char *request, char *reply, size_t size)
{
	start();
	if (*request == '=')
		set(request + 1);
	if (*request == '!')
		set(NULL);
	snprintf(reply, size, "%s: %s, %d", name == unnamed ? "unnamed" : name, value, n);
}
