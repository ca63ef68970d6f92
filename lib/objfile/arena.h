/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arena.h - memory that is given back all at once; what an objfile's names, sections and symbols
 * are allocated from
 */
#ifndef USPL_OBJFILE_ARENA_H
#define USPL_OBJFILE_ARENA_H

#include "base/types.h"

struct arena;

/* An empty arena; NULL when out of memory. */
struct arena *arena_new(void);
/* Frees the arena and everything allocated from it. */
void arena_free(struct arena *arena);
/* Zeroed memory, aligned for any type; NULL when out of memory. A size of 0 is fine. */
void *arena_alloc(struct arena *arena, size_t size);

#endif
