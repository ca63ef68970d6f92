// SPDX-License-Identifier: GPL-3.0-or-later
// private_pages.c - which pages of a process it shares with no file and no other process

#include "proc/private_pages.h"

#include <string.h>

#include "proc/pagemap.h"

#define ENTRIES 256

/* Which ones have of the bits `mask` only those of `want`. */
static void ask(const struct proc *proc, taddr addr, size_t n, uint64_t mask, uint64_t want,
		bool *ret)
{
	uint64_t entries[ENTRIES];
	auto_close int pagemap = pagemap_open(proc);

	memset(ret, 0, n * sizeof(*ret));
	for (size_t at = 0, some; pagemap >= 0 && at < n; at += some) {
		size_t got;

		some = n - at < ENTRIES ? n - at : ENTRIES;
		got = pagemap_read(pagemap, addr + at * PAGE, entries, some);
		for (size_t i = 0; i < got; i++)
			ret[at + i] = (entries[i] & mask) == want;
	}
}

void private_pages(const struct proc *proc, taddr addr, size_t n, bool *ret_private)
{
	ask(proc, addr, n, PAGEMAP_PRESENT | PAGEMAP_OF_FILE | PAGEMAP_EXCLUSIVE,
	    PAGEMAP_PRESENT | PAGEMAP_EXCLUSIVE, ret_private);
}

bool *private_page(struct private_run *run, const struct proc *proc, taddr addr, size_t n)
{
	taddr page = addr & ~(PAGE - 1);

	if (page < run->from || page >= run->from + run->n * PAGE) {
		run->from = page;
		run->n = n < PRIVATE_RUN_MAX ? n : PRIVATE_RUN_MAX;
		private_pages(proc, page, run->n, run->own);
	}
	return &run->own[(page - run->from) / PAGE];
}

void private_pages_copied(const struct proc *proc, taddr addr, size_t n, bool *ret_copied)
{
	ask(proc, addr, n, PAGEMAP_PRESENT | PAGEMAP_OF_FILE, PAGEMAP_PRESENT, ret_copied);
}
