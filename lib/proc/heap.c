// SPDX-License-Identifier: GPL-3.0-or-later
// heap.c - memory for the work on one process, which the kernel gives at once

#include "proc/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* What an apply of a few functions to a server asks for. */
#define HEAP_SIZE (1024 * 1024)

void heap_populate(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *block;

	/* Blocks of up to twice the size come from the heap, too, and none of it is given back. */
	mallopt(M_MMAP_THRESHOLD, 2 * HEAP_SIZE);
	mallopt(M_TRIM_THRESHOLD, 4 * HEAP_SIZE);
	block = malloc(HEAP_SIZE);
	if (!block)
		return;
	madvise(block + page - (uintptr_t)block % page, HEAP_SIZE - page, MADV_POPULATE_WRITE);
	free(block);
}
