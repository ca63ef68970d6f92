// SPDX-License-Identifier: GPL-3.0-or-later
// resident.c - the memory that a process has written and keeps for itself

#include "proc/resident.h"

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "proc/pagemap.h"

#define PIECE_PAGES 256
#define PIECE_LEN (PIECE_PAGES * PAGE)

/*
 * Since Linux 6.7 the kernel looks for such pages itself (the same document, PAGEMAP_SCAN;
 * fs/proc/task_mmu.c): it knows what was never mapped without going through it. Later headers have
 * it in <linux/fs.h>.
 */
#ifndef PAGEMAP_SCAN
#define PAGEMAP_SCAN _IOWR('f', 16, struct pm_scan_arg)
#define PAGE_IS_FILE (1ull << 2)
#define PAGE_IS_PRESENT (1ull << 3)
#define PAGE_IS_SWAPPED (1ull << 4)

struct page_region {
	uint64_t start, end, categories;
};

struct pm_scan_arg {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
#endif

int resident_open(struct resident *walk, struct uspl_err *err)
{
	walk->pagemap = -1;
	walk->words = malloc(PIECE_LEN);
	if (!walk->words)
		return uspl_fail_nomem(err);
	walk->pagemap = pagemap_open(walk->proc);
	return walk->pagemap < 0
		       ? uspl_fail_errno(err, "cannot open '/proc/%d/pagemap'", walk->proc->pid)
		       : 0;
}

void resident_close(struct resident *walk)
{
	if (walk->pagemap >= 0)
		close(walk->pagemap);
	free(walk->words);
	walk->pagemap = -1;
	walk->words = NULL;
}

static bool is_there(uint64_t entry)
{
	return (entry & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED)) && !(entry & PAGEMAP_OF_FILE);
}

/* Pages [start, end), none if they are equal; up to `seen` there are no others. */
struct run {
	taddr start, end, seen;
};

/* The first run in [at, end), PIECE_PAGES of which are looked at. */
static void read_entries(const struct resident *walk, taddr at, taddr end, struct run *ret)
{
	uint64_t entries[PIECE_PAGES];
	size_t n = end - at < PIECE_LEN ? (end - at) / PAGE : PIECE_PAGES, first = 0, last;
	size_t have = pagemap_read(walk->pagemap, at, entries, n);

	while (first < have && !is_there(entries[first]))
		first++;
	last = first;
	while (last < have && is_there(entries[last]))
		last++;
	*ret = (struct run){ at + first * PAGE, at + last * PAGE, at + n * PAGE };
	if (ret->start < ret->end)
		ret->seen = ret->end;
}

/* The first run in [at, end), at most PIECE_PAGES of it; false if the kernel can't tell. */
static bool ask_for_run(const struct resident *walk, taddr at, taddr end, struct run *ret)
{
	struct page_region region = { 0 };
	struct pm_scan_arg arg = {
		.size = sizeof(arg),
		.start = at,
		.end = end,
		.vec = (uint64_t)(uintptr_t)&region,
		.vec_len = 1,
		.max_pages = PIECE_PAGES,
		.category_inverted = PAGE_IS_FILE,
		.category_mask = PAGE_IS_FILE,
		.category_anyof_mask = PAGE_IS_PRESENT | PAGE_IS_SWAPPED,
		.return_mask = PAGE_IS_PRESENT,
	};
	int found = ioctl(walk->pagemap, PAGEMAP_SCAN, &arg);

	if (found < 0)
		return false;
	*ret = found ? (struct run){ region.start, region.end, region.end }
		     : (struct run){ end, end, end };
	return true;
}

bool resident_next(struct resident *walk)
{
	while (walk->next_mapping < walk->maps->n) {
		const struct mapping *map = &walk->maps->items[walk->next_mapping];
		struct run run;
		size_t len, got;

		if (walk->next < map->start)
			walk->next = map->start;
		if (!map->read || !map->write || map->shared || walk->next >= map->end) {
			walk->next_mapping++;
			continue;
		}
		/* Room for a piece, and for its entries, so that empty memory counts, too. */
		if (walk->budget < 2 * PIECE_LEN) {
			walk->left_out += map->end - walk->next;
			walk->next_mapping++;
			continue;
		}
		walk->budget -= PIECE_PAGES * sizeof(uint64_t);
		if (walk->by_entries || !ask_for_run(walk, walk->next, map->end, &run)) {
			walk->by_entries = true;
			read_entries(walk, walk->next, map->end, &run);
		}
		walk->next = run.seen;
		walk->mapping = map;
		if (run.start >= run.end)
			continue;
		len = (size_t)(run.end - run.start);
		walk->at = run.start;
		got = proc_read_some(walk->proc, run.start, walk->words, len);
		walk->budget -= got;
		/* A guard region counts as swapped out. Each of its pages is tried by itself. */
		if (got < len)
			walk->next = (run.start + got) / PAGE * PAGE + PAGE;
		walk->n = got / sizeof(*walk->words);
		if (walk->n)
			return true;
	}
	return false;
}
