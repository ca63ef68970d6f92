// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - takes all addresses near its code

#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "serve.h"

KEPT const char *version(void);

/* Every page between the two addresses that nobody has. */
static void reserve(uintptr_t start, uintptr_t end)
{
	for (uintptr_t size = 1ul << 30; size >= 4096; size /= 8)
		for (uintptr_t at = start; at + size <= end; at += size)
			mmap((void *)at, size, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
			     0);
}

static void fill(void)
{
	const uintptr_t reach = 1ul << 31, page = 4096;
	uintptr_t here = (uintptr_t)version & -page;

	reserve(here > reach ? here - reach : page, here + reach);
}

const char *version(void)
{
	return "old";
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "fill"))
		fill();
	snprintf(reply, size, "%s", strcmp(request, "fill") ? version() : "full");
}
