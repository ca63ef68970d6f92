// SPDX-License-Identifier: GPL-3.0-or-later
// arena.c - memory that is given back all at once

#include "objfile/arena.h"

#include <stdalign.h>
#include <stdlib.h>

/* Large enough that the symbols of a usual object fill a handful of blocks. */
#define BLOCK_SIZE ((size_t)64 << 10)

struct block {
	struct block *next;
	size_t used, size;
	alignas(max_align_t) unsigned char bytes[];
};

struct arena {
	struct block *blocks; /* the first one is being filled */
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

static struct block *add_block(struct arena *arena, size_t size)
{
	struct block *block;

	if (size < BLOCK_SIZE)
		size = BLOCK_SIZE;
	block = calloc(1, sizeof(*block) + size);
	if (!block)
		return NULL;
	block->size = size;
	block->next = arena->blocks;
	arena->blocks = block;
	return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	struct block *block = arena->blocks;
	void *mem;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
	if (!block || size > block->size - block->used)
		block = add_block(arena, size);
	if (!block)
		return NULL;
	mem = block->bytes + block->used;
	block->used += size;
	return mem;
}
