// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - two functions in one section

#include <stdio.h>

#include "serve.h"

static KEPT __attribute__((section(".text.own"))) int first(int x)
{
	return x + 1;
}

static KEPT __attribute__((section(".text.own"))) int second(int x)
{
	return x * 2;
}

void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "%d %d", first(*request), second(*request));
}
