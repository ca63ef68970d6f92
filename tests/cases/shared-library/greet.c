// SPDX-License-Identifier: GPL-3.0-or-later
// greet.c - the library

#include "greet.h"

#include <stdio.h>

#include "serve.h"

int exported = 50;
static int greeted;

void greet(const char *who, char *reply, size_t size)
{
	greeted++;
	snprintf(reply, size, "hello %s %d", who, greeted);
}
