// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a function with static data, a constant table and calls into libc

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

static const char *const words[] = { "one", "two", "three" };
static unsigned int asked;

static __attribute__((noinline)) const char *word(unsigned int n)
{
	return words[n % 3];
}

static __attribute__((noinline)) void tell(const char *request, char *reply, size_t size)
{
	asked++;
	snprintf(reply, size, "%s is %s, %u", request, word((unsigned int)atoi(request)), asked);
}

void answer(const char *request, char *reply, size_t size)
{
	tell(request, reply, size);
}
