// SPDX-License-Identifier: GPL-3.0-or-later
// alloc_sums.c - what the listeners of the tracer 'alloc' have counted, added up

#include "trace/tally/alloc_sums.h"

#include <stdlib.h>

#include "trace/tally/alloc_blocks.h"

static void add_thread(struct alloc_sums *sums)
{
	const struct uspl_alloc_thread *thread = &sums->thread;

	sums->strangers += thread->strangers;
	sums->own.live += thread->pending;
	for (size_t i = 0; i < USPL_ALLOC_SIZES; i++)
		sums->sizes[i] += thread->sizes[i];
	for (size_t i = 0; i < USPL_ALLOC_SITES; i++) {
		struct uspl_alloc_cell *sum = &sums->sites[i].sum;
		const struct uspl_alloc_cell *cell = &thread->cells[i];

		sum->blocks += cell->blocks;
		sum->bytes += cell->bytes;
		sum->freed_blocks += cell->freed_blocks;
		sum->freed_bytes += cell->freed_bytes;
		sums->sum.blocks += cell->blocks;
		sums->sum.bytes += cell->bytes;
		sums->sum.freed_blocks += cell->freed_blocks;
		sums->sum.freed_bytes += cell->freed_bytes;
	}
}

/* A block that is live: how old it is, and which mapping of the heap it lies in. */
static bool see_block(void *ctx, taddr addr, uint64_t word)
{
	struct alloc_sums *sums = ctx;
	uint64_t age = uspl_alloc_age(word);
	struct alloc_site *site = &sums->sites[word >> USPL_ALLOC_SITE_SHIFT];
	struct smap *map;

	if (age < site->oldest)
		site->oldest = age;
	if (word >> USPL_ALLOC_MAP_BIT & 1)
		return true;
	map = smaps_at(&sums->smaps, addr);
	if (!map)
		return true;
	sums->heap_live += uspl_alloc_size(word);
	if (!map->seen)
		sums->heap += map->resident;
	map->seen = true;
	return true;
}

static int read_all(struct alloc_sums *sums, struct uspl_err *err)
{
	const struct tally *tally = sums->tally;
	int rc = proc_read(tally->view.proc, tally->own, &sums->own, sizeof(sums->own), err);

	if (rc)
		return rc;
	for (size_t i = 0; i < USPL_ALLOC_SITES; i++) {
		sums->sites[i].caller = sums->own.sites[i];
		sums->sites[i].oldest = ALLOC_NO_AGE;
	}
	for (size_t i = 0; i < tally->n_threads; i++) {
		rc = tally_read_thread(tally, i, &sums->thread, sizeof(sums->thread), err);
		if (rc)
			return rc;
		add_thread(sums);
	}
	rc = smaps_read(tally->view.proc, &sums->smaps, err);
	if (rc)
		return rc;
	if (sums->own.peak < sums->own.live)
		sums->own.peak = sums->own.live;
	return alloc_blocks(tally->view.proc, &sums->own, see_block, sums, err);
}

static int by_live(const void *a, const void *b)
{
	const struct alloc_site *x = a, *y = b;
	uint64_t lx = alloc_site_live(x), ly = alloc_site_live(y);

	if (x->leaked.bytes != y->leaked.bytes)
		return x->leaked.bytes > y->leaked.bytes ? -1 : 1;
	if (lx != ly)
		return lx > ly ? -1 : 1;
	return x->sum.bytes > y->sum.bytes ? -1 : x->sum.bytes < y->sum.bytes;
}

int alloc_sums_read(const struct tally *tally, struct alloc_sums **ret, struct uspl_err *err)
{
	auto_alloc_sums struct alloc_sums *sums = calloc(1, sizeof(*sums));
	auto_free struct leaks *leaks = NULL;
	size_t n = 0;
	int rc;

	if (!sums)
		return uspl_fail_nomem(err);
	sums->tally = tally;
	rc = read_all(sums, err);
	if (rc)
		return rc;
	if (tally->opts->leaks) {
		leaks = calloc(1, sizeof(*leaks));
		if (!leaks)
			return uspl_fail_nomem(err);
		rc = leaks_find(tally->view.proc->pid, &sums->own, leaks, err);
		if (rc)
			return rc;
		sums->leaks = leaks->sum;
		sums->leaks_stop_us = leaks->stop_us;
		for (size_t i = 0; i < USPL_ALLOC_SITES; i++)
			sums->sites[i].leaked = leaks->sites[i];
	}
	/* Puts those in front that were called. */
	for (size_t i = 0; i < USPL_ALLOC_SITES; i++)
		if (sums->sites[i].sum.blocks)
			sums->sites[n++] = sums->sites[i];
	qsort(sums->sites, n, sizeof(*sums->sites), by_live);
	sums->n_sites = n;
	*ret = take_ptr(sums);
	return 0;
}

void alloc_sums_free(struct alloc_sums *sums)
{
	if (!sums)
		return;
	smaps_release(&sums->smaps);
	free(sums);
}

double alloc_site_oldest(const struct alloc_sums *sums, const struct alloc_site *site)
{
	double unit = (double)(1ull << USPL_ALLOC_AGE_SHIFT) * sums->tally->ns_per_tick / 1e9;
	double age = sums->tally->seconds - (double)site->oldest * unit;

	if (site->oldest == ALLOC_NO_AGE)
		return -1;
	return age > 0 ? age : 0;
}

double alloc_fragmentation(const struct alloc_sums *sums)
{
	if (sums->heap_live >= sums->heap)
		return 0;
	return 100 - 100.0 * (double)sums->heap_live / (double)sums->heap;
}
