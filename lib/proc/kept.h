/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kept.h - what a command has read of a process and needn't read again
 *
 * Records of ours are written by tools, and one tool at a time changes a process (proc_lock.h). So
 * what a command has read of them while it holds the lock stays true until it writes there itself:
 * proc_write notes what it writes, a run of a thread of the target (inject.h) and a new look at the
 * maps drop all. Nothing is kept of a process that isn't locked, since another tool may be at work
 * there. What the program itself may change (stacks, code, the state of threads) is never kept.
 */
#ifndef USPL_PROC_KEPT_H
#define USPL_PROC_KEPT_H

#include "base/types.h"
#include "base/vec.h"

/* Bytes of the process's memory. */
struct kept_piece {
	taddr addr;
	size_t len;
	uint8_t *bytes;
};

/* How a mapping begins that may hold a record (heads.h). */
struct kept_head {
	taddr at;
	size_t map;    /* which one of proc->maps */
	uint64_t word; /* its first eight bytes */
	bool unknown;  /* they can't be read */
};

typedef VEC(struct kept_head) kept_head_vec;

struct kept {
	VEC(struct kept_piece) pieces; /* sorted, none overlaps another */
	size_t bytes;                  /* of all of them */
	kept_head_vec heads;           /* sorted */
	bool has_heads;                /* those are all that there are, by proc->maps */
	uint8_t auxv[1024]; /* its auxiliary vector, as long as auxv_len says; 0: not known */
	size_t auxv_len;
};

/* All these do nothing, and find nothing, where kept is NULL: nothing is kept of that process. */

/* Copies what was kept of [addr, addr + len); false if that isn't known. */
bool kept_recall(const struct kept *kept, taddr addr, void *buf, size_t len);
/* Keeps a copy, unless there is too much already. */
void kept_add(struct kept *kept, taddr addr, const void *buf, size_t len);
/* What is kept of that place becomes these bytes: they have been written there. */
void kept_write(struct kept *kept, taddr addr, const void *buf, size_t len);
/* Forgets what lies there: it has changed, or is about to. */
void kept_drop(struct kept *kept, taddr addr, size_t len);
/* Forgets all: any record may have changed, or gone, or come. */
void kept_drop_all(struct kept *kept);
void kept_free(struct kept *kept);

#endif
