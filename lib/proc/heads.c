// SPDX-License-Identifier: GPL-3.0-or-later
// heads.c - the mappings that may hold a record of ours
/*
 * The first page of a mapping may be one that can't be read, though it is private memory without a
 * name: a guard region (MADV_GUARD_INSTALL, Linux 6.13), which glibc has at the end of threads'
 * stacks since 2.42. A page with a record of ours was written to, and is there; so one that the
 * kernel doesn't have in memory, and can't bring there, holds none.
 */

#include "proc/heads.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* /proc/PID/pagemap (pagemap.rst): the page is in memory. */
#define PAGE_IS_THERE (1ull << 63)

/* True as well if that can't be told. */
static bool is_there(int pagemap, taddr addr)
{
	uint64_t entry;

	return pread(pagemap, &entry, sizeof(entry), (off_t)(addr / PAGE * sizeof(entry))) !=
		       sizeof(entry) ||
	       entry & PAGE_IS_THERE;
}

/* One by one, where one of them can't be read: from those that are left out nothing can come. */
static void read_each(struct heads *heads)
{
	size_t n = heads->n;
	auto_close int pagemap = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/pagemap", heads->proc->pid,
		 heads->proc->tid);
	pagemap = open(path, O_RDONLY | O_CLOEXEC);
	heads->n = 0;
	for (size_t i = 0; i < n; i++) {
		const struct mapping *map = heads->maps[i];
		uint64_t word;
		bool known = proc_read_some(heads->proc, map->start, &word, sizeof(word)) ==
			     sizeof(word);

		if (!known && !is_there(pagemap, map->start))
			continue;
		heads->maps[heads->n] = map;
		heads->words[heads->n++] = known ? word : heads->magic;
	}
}

static void leave_rest(struct heads *heads)
{
	heads->n = 0;
	heads->next = heads->proc->maps.n;
}

/*
 * Reads the first words of the next mappings of the kind; all may be left out. Where the budget for
 * a process is spent no others follow, and the next charge says so.
 */
static void read_some(struct heads *heads)
{
	const mapping_vec *maps = &heads->proc->maps;
	struct proc_piece pieces[PROC_PIECES_MAX];

	heads->at = heads->n = 0;
	for (; heads->next < maps->n && heads->n < PROC_PIECES_MAX; heads->next++) {
		const struct mapping *map = &maps->items[heads->next];

		if (!mapping_may_hold_record(map))
			continue;
		pieces[heads->n] = (struct proc_piece){ map->start, sizeof(heads->words[0]),
							&heads->words[heads->n] };
		heads->maps[heads->n++] = map;
	}
	if (!heads->n)
		return;
	/* A piece of many takes a quarter of what a read takes. */
	if (proc_charge(heads->proc, 1 + heads->n / 4, 0, NULL))
		leave_rest(heads);
	else if (proc_read_pieces(heads->proc, pieces, heads->n))
		return;
	else if (proc_charge(heads->proc, 2 * heads->n, 0, NULL))
		leave_rest(heads);
	else
		read_each(heads);
}

const struct mapping *heads_next(struct heads *heads)
{
	for (;;) {
		while (heads->at == heads->n) {
			if (heads->next == heads->proc->maps.n)
				return NULL;
			read_some(heads);
		}
		while (heads->at < heads->n) {
			size_t i = heads->at++;

			if (heads->words[i] == heads->magic)
				return heads->maps[i];
		}
	}
}
