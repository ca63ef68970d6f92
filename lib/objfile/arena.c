// SPDX-License-Identifier: GPL-3.0-or-later
// arena.c - memory that is given back all at once

#include "objfile/arena.h"

#include <stdalign.h>
#include <stdlib.h>

/*
 * A block is as large as all before it, within these bounds: the arenas of small objects are many.
 */
#define MIN_BLOCK ((size_t)4 << 10)
#define MAX_BLOCK ((size_t)64 << 10)

struct block {
	struct block *next;
	size_t used, size;
	alignas(max_align_t) unsigned char bytes[];
};

struct arena {
	struct block *blocks; /* the first one is being filled */
	size_t size;          /* of all of them */
};

struct arena *arena_new(void)
{
	return calloc(1, sizeof(struct arena));
}

void arena_free(struct arena *arena)
{
	struct block *block, *next;

	if (!arena)
		return;
	for (block = arena->blocks; block; block = next) {
		next = block->next;
		free(block);
	}
	free(arena);
}

void *arena_alloc(struct arena *arena, size_t size)
{
	size_t usual = arena->size < MAX_BLOCK ? arena->size : MAX_BLOCK;
	struct block *block = arena->blocks;
	void *mem;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
	if (!block || size > block->size - block->used) {
		if (usual < MIN_BLOCK)
			usual = MIN_BLOCK;
		if (usual < size)
			usual = size;
		block = calloc(1, sizeof(*block) + usual);
		if (!block)
			return NULL;
		block->size = usual;
		arena->size += usual;
		block->next = arena->blocks;
		arena->blocks = block;
	}
	mem = block->bytes + block->used;
	block->used += size;
	return mem;
}
