// SPDX-License-Identifier: GPL-3.0-or-later
// reach.c - which blocks of a process's memory something still points to

#include "trace/tally/reach.h"

#include <string.h>

#include "base/cleanup.h"
#include "proc/resident.h"
#include "thread/stop.h"

/*
 * Below the stack pointer a function may keep something (System V ABI for x86-64, 3.2.2, "red
 * zone").
 */
#define RED_ZONE 128
/* Of each stack so much is copied while its thread stands still; the rest seldom changes. */
#define COPY_MAX (256u << 10)
#define READ_LEN (64u << 10)

struct look {
	const struct proc *proc;
	reach_blocks *blocks;
	VEC(size_t) to_read; /* blocks that were reached, and whose words weren't looked at yet */
	VEC(struct reach_gap) gaps; /* not to be looked at */
	VEC(uint64_t) copied;       /* registers and stacks */
	taddr lowest, end;          /* of all blocks */
	bool oom;
};

/* The last block that begins at addr or below, blocks->n if there is none. */
static size_t block_below(const reach_blocks *blocks, taddr addr)
{
	return vec_lower_bound(blocks, it, it->addr <= addr) - 1;
}

static void look_at_word(struct look *look, uint64_t word)
{
	struct reach_block *block;
	size_t i, *place;

	if (word < look->lowest || word >= look->end)
		return;
	i = block_below(look->blocks, word);
	block = &look->blocks->items[i];
	/* A block of no bytes is reached by its address. */
	if (word - block->addr >= (block->len ? block->len : 1) || block->reached)
		return;
	block->reached = true;
	place = vec_push(&look->to_read);
	if (place)
		*place = i;
	else
		look->oom = true;
}

static void add_gap(struct look *look, taddr start, taddr end)
{
	struct reach_gap *gap = vec_push(&look->gaps);

	if (gap)
		*gap = (struct reach_gap){ start, end };
	else
		look->oom = true;
}

static void copy_words(struct look *look, const void *words, size_t len)
{
	const uint8_t *from = words;

	for (size_t at = 0; at + sizeof(uint64_t) <= len; at += sizeof(uint64_t)) {
		uint64_t *place = vec_push(&look->copied);

		if (!place) {
			look->oom = true;
			return;
		}
		memcpy(place, from + at, sizeof(*place));
	}
}

struct copying {
	struct look *look;
	const mapping_vec *maps;
	double *ret_stop_us;
};

static int copy_threads(void *ctx, struct uspl_err *err)
{
	const struct copying *copying = ctx;
	struct look *look = copying->look;
	auto_free uint8_t *room = malloc(COPY_MAX);
	const struct thread *thread;
	struct stop stop;
	int rc;

	if (!room)
		return uspl_fail_nomem(err);
	rc = stop_prepare(&stop, look->proc, err);
	if (rc)
		return rc;
	rc = stop_enter(&stop, clock_now_ns() + STOP_LIMIT_NS, err);
	if (rc)
		goto leave;
	/* Of each the registers, and the stack that is in use. What lies below is left over. */
	vec_for_each (&stop.threads, thread) {
		taddr low = (regs_sp(&thread->regs) - RED_ZONE) & -(taddr)sizeof(uint64_t);
		const struct mapping *map = mappings_at(copying->maps, low);
		size_t len;

		if (thread->state != THREAD_STOPPED || !thread->regs_valid)
			continue;
		copy_words(look, &thread->regs, sizeof(thread->regs));
		if (!map || !map->write)
			continue;
		len = map->end - low < COPY_MAX ? map->end - low : COPY_MAX;
		copy_words(look, room, proc_read_some(look->proc, low, room, len));
		add_gap(look, map->start, low);
	}
leave:
	stop_leave(&stop);
	*copying->ret_stop_us = (double)(stop.left_ns - stop.entered_ns) / 1e3;
	return rc;
}

/* Where the words that are in no block go on, at addr or behind it. */
static taddr next_outside(const struct look *look, taddr addr, taddr end)
{
	while (addr < end) {
		size_t i = block_below(look->blocks, addr);
		const struct reach_block *block =
			i < look->blocks->n ? &look->blocks->items[i] : NULL;
		const struct reach_gap *gap;
		taddr over = 0;

		vec_for_each (&look->gaps, gap)
			if (addr >= gap->start && addr < gap->end)
				over = gap->end;
		if (!over && block && addr - block->addr < block->len)
			over = (block->addr + block->len + 7) & -(taddr)sizeof(uint64_t);
		if (!over)
			return addr;
		addr = over;
	}
	return end;
}

static void look_at_piece(struct look *look, const struct resident *walk)
{
	taddr end = walk->at + walk->n * sizeof(uint64_t);
	taddr at = next_outside(look, walk->at, end);

	while (at < end) {
		/* Where the next block or gap may begin, behind `at`. */
		size_t i = vec_lower_bound(look->blocks, it, it->addr <= at);
		const struct reach_gap *gap;
		taddr limit = end;

		if (i < look->blocks->n && look->blocks->items[i].addr < limit)
			limit = look->blocks->items[i].addr;
		vec_for_each (&look->gaps, gap)
			if (gap->start > at && gap->start < limit)
				limit = gap->start;
		for (; at < limit; at += sizeof(uint64_t))
			look_at_word(look, walk->words[(at - walk->at) / sizeof(uint64_t)]);
		at = next_outside(look, at, end);
	}
}

/* What reached blocks point to is reached, too. */
static int look_at_blocks(struct look *look, struct uspl_err *err)
{
	auto_free uint64_t *room = malloc(READ_LEN);

	if (!room)
		return uspl_fail_nomem(err);
	while (look->to_read.n && !look->oom) {
		const struct reach_block *block =
			&look->blocks->items[look->to_read.items[--look->to_read.n]];
		taddr at = (block->addr + 7) & -(taddr)sizeof(uint64_t);
		taddr end = block->addr + block->len;

		while (at + sizeof(uint64_t) <= end) {
			size_t len = end - at < READ_LEN ? end - at : READ_LEN;
			size_t n = proc_read_some(look->proc, at, room, len) / sizeof(uint64_t);

			for (size_t i = 0; i < n; i++)
				look_at_word(look, room[i]);
			if (!n)
				break;
			at += n * sizeof(uint64_t);
		}
	}
	return look->oom ? uspl_fail_nomem(err) : 0;
}

static void release(struct look *look)
{
	vec_release(&look->to_read);
	vec_release(&look->gaps);
	vec_release(&look->copied);
}

DEFINE_AUTO_RELEASE(look, struct look, release)
#define auto_look __attribute__((cleanup(cleanup_look_)))

int reach_look(const struct proc *proc, reach_blocks *blocks, const struct reach_gap *gap,
	       double *ret_stop_us, struct uspl_err *err)
{
	auto_look struct look look = { .proc = proc, .blocks = blocks };
	auto_mappings mapping_vec maps = { 0 };
	auto_resident struct resident walk = { .proc = proc, .maps = &maps, .budget = UINT64_MAX };
	struct copying copying = { .look = &look, .maps = &maps, .ret_stop_us = ret_stop_us };
	struct reach_block *block;
	int rc;

	vec_for_each (blocks, block) {
		block->reached = false;
		if (look.end < block->addr + block->len + 1)
			look.end = block->addr + block->len + 1;
	}
	look.lowest = blocks->n ? blocks->items[0].addr : UINT64_MAX;
	add_gap(&look, gap->start, gap->end);
	rc = proc_read_maps(proc, &maps, err);
	if (rc)
		return rc;
	rc = stop_again(proc, copy_threads, &copying, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < look.copied.n; i++)
		look_at_word(&look, look.copied.items[i]);
	/* All private memory that is in no block. */
	rc = resident_open(&walk, err);
	if (rc)
		return rc;
	while (resident_next(&walk))
		look_at_piece(&look, &walk);
	return look_at_blocks(&look, err);
}
