// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - takes all addresses near its code

#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "serve.h"

typedef void describe_fn(int n, char *reply, size_t size);

KEPT void describe(int n, char *reply, size_t size);
KEPT static int next(void);

extern char etext[];

static int count;
static describe_fn *const kept = describe;

/* Every page between the two addresses that nobody has. */
static void reserve(uintptr_t start, uintptr_t end)
{
	for (uintptr_t size = 1ul << 30; size >= 4096; size /= 8)
		for (uintptr_t at = start; at + size <= end; at += size)
			mmap((void *)at, size, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
			     0);
}

static uintptr_t here(void)
{
	return (uintptr_t)describe & -4096ul;
}

static void fill(void)
{
	const uintptr_t reach = 1ul << 31, page = 4096;

	reserve(here() > reach ? here() - reach : page, here() + reach);
}

/* What is left of the last page of the code. */
static void fill_slack(void)
{
	uintptr_t start = (uintptr_t)etext, end = (start + 4095) & -4096ul;

	mprotect((void *)(end - 4096), 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	memset(etext, 0xcc, end - start);
	mprotect((void *)(end - 4096), 4096, PROT_READ | PROT_EXEC);
}

static int next(void)
{
	return ++count;
}

void describe(int n, char *reply, size_t size)
{
	snprintf(reply, size, "old %d %d %d", n, next(), kept == describe);
}

void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "done");
	if (!strcmp(request, "fill"))
		fill();
	else if (!strcmp(request, "free a page"))
		munmap((void *)(here() + 0x60000000), 4096);
	else if (!strcmp(request, "fill slack"))
		fill_slack();
	else
		kept(atoi(request), reply, size);
}
