// SPDX-License-Identifier: GPL-3.0-or-later
// lib.c - a library of two sources that are optimised together

#include <stdio.h>

#include "greet.h"

__attribute__((visibility("default"))) void greet(const char *name, char *reply, size_t size)
{
	snprintf(reply, size, "hello %s %d", name, greet_visits());
}
