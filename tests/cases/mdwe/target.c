// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - forbids itself new executable memory where the kernel can (Linux 6.3), then greets

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "serve.h"

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif

void greet(char *reply, size_t size);

KEPT void greet(char *reply, size_t size)
{
	snprintf(reply, size, "hello, %s", "world");
}

/*
 * Whether it works is seen by trying; an older kernel has nothing to forbid, and the case still
 * holds.
 */
static const char *confine(void)
{
	void *map;

	if (prctl(PR_SET_MDWE, 1, 0, 0, 0) != 0)
		return "confined";
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		   0);
	return map == MAP_FAILED ? "confined" : "not confined";
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "confine"))
		snprintf(reply, size, "%s", confine());
	else
		greet(reply, size);
}
