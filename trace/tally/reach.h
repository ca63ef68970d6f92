/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reach.h - which blocks of a process's memory something still points to
 *
 * As the garbage collectors of Boehm and Weiser, and kmemleak, find it: every aligned word counts
 * as a pointer, and one into the middle of a block as one to it. What counts to begin with are the
 * registers, the stacks from the stack pointer up, and all private writable memory that is in no
 * block; then the blocks that were reached. Not seen are pointers in shared memory, in vector
 * registers, and those that are kept in another form.
 */
#ifndef USPL_TRACE_TALLY_REACH_H
#define USPL_TRACE_TALLY_REACH_H

#include "base/vec.h"
#include "proc/proc.h"

struct reach_block {
	taddr addr;
	uint64_t len;
	uint64_t tag; /* the caller's */
	bool reached;
};

typedef VEC(struct reach_block) reach_blocks;

/* Memory that holds no pointers of the program's. */
struct reach_gap {
	taddr start, end;
};

/*
 * Looks once: sets `reached` of each block. The process goes on meanwhile, so a pointer that is
 * moved may be missed; its threads stand still for a moment, *ret_stop_us, for their registers and
 * stacks. blocks: sorted by address. gap: not to be looked at. proc: locked (proc/proc_lock.h).
 */
int reach_look(const struct proc *proc, reach_blocks *blocks, const struct reach_gap *gap,
	       double *ret_stop_us, struct uspl_err *err) uspl_must_check;

#endif
