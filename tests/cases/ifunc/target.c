// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has an indirect function that is not called

#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "serve.h"

int chosen(void);
int (*kept_address)(void);
KEPT void tell(const char *s, char *reply, size_t size);

static int forty_two(void)
{
	return 42;
}

static int (*choose(void))(void)
{
	return forty_two;
}

int chosen(void) __attribute__((ifunc("choose")));

void tell(const char *s, char *reply, size_t size)
{
	snprintf(reply, size, "%zu", strlen(s));
}

void answer(const char *request, char *reply, size_t size)
{
	tell(request, reply, size);
}
