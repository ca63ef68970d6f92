// SPDX-License-Identifier: GPL-3.0-or-later
// alloc_blocks.c - the blocks that are live, as the listeners of the tracer 'alloc' have noted them

#include "trace/tally/alloc_blocks.h"

#include "proc/resident.h"
#include "uspl/listen_abi.h"

int alloc_blocks(const struct proc *proc, const struct uspl_alloc *own,
		 bool (*visit)(void *ctx, taddr addr, uint64_t word), void *ctx,
		 struct uspl_err *err)
{
	char no_path[] = "";
	struct mapping leaves = { .start = own->leaves,
				  .end = alloc_leaves_end(own),
				  .read = true,
				  .write = true,
				  .path = no_path };
	const mapping_vec maps = { .items = &leaves, .n = 1 };
	auto_resident struct resident walk = { .proc = proc, .maps = &maps, .budget = UINT64_MAX };
	int rc = resident_open(&walk, err);

	if (rc)
		return rc;
	while (resident_next(&walk))
		/* A piece of the leaves, which stand for memory as runtime/listen/alloc.c says. */
		for (size_t i = 0; i < walk.n; i++) {
			uint64_t at = walk.at + i * sizeof(uint64_t) - own->leaves;
			uint64_t chunk = own->chunks[at / USPL_ALLOC_LEAF % USPL_ALLOC_CHUNKS];
			taddr addr = ((chunk - 1) << USPL_ALLOC_CHUNK_SHIFT) + at % USPL_ALLOC_LEAF;

			if (walk.words[i] && chunk && !visit(ctx, addr, walk.words[i]))
				return uspl_fail_nomem(err);
		}
	return 0;
}
