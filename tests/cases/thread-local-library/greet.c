// SPDX-License-Identifier: GPL-3.0-or-later
// greet.c - the library

#include "greet.h"

#include <stdio.h>

#include "serve.h"

__thread int exported = 10;
static __thread int greeted;

void greet(const char *who, char *reply, size_t size)
{
	greeted++;
	exported++;
	snprintf(reply, size, "%s %d %d", of_program ? who : "", greeted, exported);
}
