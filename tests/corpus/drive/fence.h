/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fence.h - an allocator for a child that is asked: what it reads or writes behind a block ends it
 *
 * Once fence_begin was called each block ends where memory does, so that the first byte behind it
 * is a SIGSEGV. (Blocks aren't aligned by more than their sizes are.) What is freed stays as it is.
 */
#ifndef USPL_CORPUS_FENCE_H
#define USPL_CORPUS_FENCE_H

#include <malloc.h>
#include <sys/mman.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void __libc_free(void *block);

enum { FENCE_PAGE = 4096 };

static const size_t fence_room = 1ul << 36;
static char *fence_start, *fence_next; /* NULL: not yet */

static void fence_begin(void)
{
	char *room = mmap(NULL, fence_room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			  -1, 0);

	if (room != MAP_FAILED)
		fence_start = fence_next = room;
}

static bool is_fenced(const void *block)
{
	return fence_start && (const char *)block >= fence_start &&
	       (const char *)block < fence_start + fence_room;
}

/* In the page before it is the block's size. */
static size_t *fence_size(void *block)
{
	return (size_t *)(((unsigned long)block & -(unsigned long)FENCE_PAGE) - FENCE_PAGE);
}

void *malloc(size_t size)
{
	size_t room = (size + FENCE_PAGE - 1) & -(size_t)FENCE_PAGE;
	char *block = fence_next + FENCE_PAGE + room - size;

	if (!fence_start)
		return __libc_malloc(size);
	if (room + 2 * FENCE_PAGE > (size_t)(fence_start + fence_room - fence_next) ||
	    mprotect(fence_next, FENCE_PAGE + room, PROT_READ | PROT_WRITE) < 0)
		return NULL;
	fence_next += room + 2 * FENCE_PAGE;
	if (size)
		*fence_size(block) = size;
	return block;
}

void *calloc(size_t n, size_t size)
{
	size_t all;

	if (!fence_start)
		return __libc_calloc(n, size);
	/* No memory is used twice: it is zero. */
	return __builtin_mul_overflow(n, size, &all) ? NULL : malloc(all);
}

void free(void *block)
{
	if (!is_fenced(block))
		__libc_free(block);
}

void *realloc(void *block, size_t size)
{
	size_t had = !block ? 0 : is_fenced(block) ? *fence_size(block) : malloc_usable_size(block);
	void *other;

	if (!fence_start)
		return __libc_realloc(block, size);
	other = malloc(size);
	if (other && block)
		memcpy(other, block, had < size ? had : size);
	return other;
}

#endif
