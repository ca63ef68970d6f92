// SPDX-License-Identifier: GPL-3.0-or-later
// leaks.c - blocks that the program has allocated and that nothing points to any more

#include "trace/tally/leaks.h"

#include <stdlib.h>

#include "trace/output/view.h"
#include "trace/tally/alloc_blocks.h"
#include "trace/tally/reach.h"

static int by_addr(const void *a, const void *b)
{
	const struct reach_block *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static bool add_block(void *ctx, taddr addr, uint64_t word)
{
	reach_blocks *blocks = ctx;
	struct reach_block *block;

	if (word >> USPL_ALLOC_MAP_BIT & 1)
		return true;
	block = vec_push(blocks);
	if (block)
		*block = (struct reach_block){ addr, uspl_alloc_size(word), word, false };
	return block;
}

static void add(struct leak_sum *sum, const struct reach_block *block)
{
	sum->blocks++;
	sum->bytes += block->len;
}

static int look(const struct proc *proc, const struct uspl_alloc *own, reach_blocks *blocks,
		struct leaks *leaks, struct uspl_err *err)
{
	const struct reach_gap leaves = { own->leaves, alloc_leaves_end(own) };
	double stop_us = 0;
	int rc = alloc_blocks(proc, own, add_block, blocks, err);

	if (rc)
		return rc;
	if (blocks->n)
		qsort(blocks->items, blocks->n, sizeof(*blocks->items), by_addr);
	rc = reach_look(proc, blocks, &leaves, &stop_us, err);
	if (rc)
		return rc;
	if (stop_us > leaks->stop_us)
		leaks->stop_us = stop_us;
	return 0;
}

int leaks_find(pid_t pid, const struct uspl_alloc *own, struct leaks *ret, struct uspl_err *err)
{
	auto_proc struct proc *proc = NULL;
	const struct reach_block *block;
	auto_vec reach_blocks first = { 0 }, second = { 0 };
	int rc = view_lock(pid, &proc, err);

	if (rc)
		return rc;
	rc = look(proc, own, &first, ret, err);
	if (rc)
		return rc;
	rc = look(proc, own, &second, ret, err);
	if (rc)
		return rc;
	vec_for_each (&second, block) {
		size_t i = vec_lower_bound(&first, it, it->addr < block->addr);
		const struct reach_block *before = i < first.n ? &first.items[i] : NULL;

		/* The same block: its size, its call site and its age are as they were. */
		if (block->reached || !before || before->addr != block->addr ||
		    before->tag != block->tag || before->reached)
			continue;
		add(&ret->sites[block->tag >> USPL_ALLOC_SITE_SHIFT], block);
		add(&ret->sum, block);
	}
	return 0;
}
