// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a function that alone knows a string, a variable and two other functions

#include <stdio.h>
#include "names.h"
#include "serve.h"

static int asked;

static __attribute__((noinline)) int weigh(const char *text)
{
	int sum = 0;

	while (*text)
		sum += (unsigned char)*text++ % 4;
	return sum;
}

static __attribute__((noinline)) void label(const char *request, char *reply, size_t size)
{
	asked++;
	snprintf(reply, size, "%s %d %d %d", "old", asked, weigh(request), count_name(request));
}

void answer(const char *request, char *reply, size_t size)
{
	label(request, reply, size);
}
