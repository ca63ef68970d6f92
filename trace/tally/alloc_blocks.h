/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * alloc_blocks.h - the blocks that are live, as the listeners of the tracer 'alloc' have noted them
 */
#ifndef USPL_TRACE_TALLY_ALLOC_BLOCKS_H
#define USPL_TRACE_TALLY_ALLOC_BLOCKS_H

#include "trace/tally/tally.h"

/*
 * Calls visit for each, in no order, with its address and its word (include/uspl/listen_abi.h);
 * until it says false, which is USPL_E_NOMEM. own: as read from the process. Of a mapping the
 * address is 8 bytes behind its beginning.
 */
int alloc_blocks(const struct proc *proc, const struct uspl_alloc *own,
		 bool (*visit)(void *ctx, taddr addr, uint64_t word), void *ctx,
		 struct uspl_err *err) uspl_must_check;
/* Where the words lie in the process. */
static inline taddr alloc_leaves_end(const struct uspl_alloc *own)
{
	return own->leaves + USPL_ALLOC_CHUNKS * USPL_ALLOC_LEAF;
}

#endif
