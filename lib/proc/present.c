// SPDX-License-Identifier: GPL-3.0-or-later
// present.c - the memory that a process has written and keeps for itself

#include "proc/present.h"

#include <fcntl.h>
#include <unistd.h>

#define PAGE 4096ull
#define PIECE_PAGES 256
#define PIECE_LEN (PIECE_PAGES * PAGE)

/* An entry of /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst). */
#define ENTRY_PRESENT (1ull << 63)
#define ENTRY_SWAPPED (1ull << 62)
#define ENTRY_OF_FILE (1ull << 61) /* a file's page that the program hasn't written to */

int present_open(struct present *walk, struct uspl_err *err)
{
	char path[64];

	walk->pagemap = -1;
	walk->words = malloc(PIECE_LEN);
	if (!walk->words)
		return uspl_fail_nomem(err);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/pagemap", walk->proc->pid, walk->proc->tid);
	walk->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	return walk->pagemap < 0 ? uspl_fail_errno(err, "cannot open '%s'", path) : 0;
}

void present_close(struct present *walk)
{
	if (walk->pagemap >= 0)
		close(walk->pagemap);
	free(walk->words);
	walk->pagemap = -1;
	walk->words = NULL;
}

static bool is_ours(const struct mapping *map)
{
	return map->read && map->write && !map->shared;
}

static bool is_there(uint64_t entry)
{
	return (entry & (ENTRY_PRESENT | ENTRY_SWAPPED)) && !(entry & ENTRY_OF_FILE);
}

/* The first run of pages that are there in [at, end), PIECE_PAGES of which are looked at. */
static bool find_run(const struct present *walk, taddr at, taddr end, taddr *ret_start,
		     taddr *ret_end)
{
	uint64_t entries[PIECE_PAGES];
	size_t n = end - at < PIECE_LEN ? (end - at) / PAGE : PIECE_PAGES, first = 0, last;
	ssize_t got = pread(walk->pagemap, entries, n * 8, (off_t)(at / PAGE * 8));

	n = got > 0 ? (size_t)got / 8 : 0;
	while (first < n && !is_there(entries[first]))
		first++;
	last = first;
	while (last < n && is_there(entries[last]))
		last++;
	*ret_start = at + first * PAGE;
	*ret_end = at + last * PAGE;
	return first < last;
}

static bool read_run(struct present *walk, taddr start, taddr end)
{
	size_t len = (size_t)(end - start);

	walk->budget -= len;
	walk->at = start;
	walk->n = proc_read_some(walk->proc, start, walk->words, len) / sizeof(*walk->words);
	return walk->n;
}

bool present_next(struct present *walk)
{
	while (walk->next_mapping < walk->maps->n) {
		const struct mapping *map = &walk->maps->items[walk->next_mapping];
		taddr start, end;

		if (walk->next < map->start)
			walk->next = map->start;
		if (!is_ours(map) || walk->next >= map->end) {
			walk->next_mapping++;
			continue;
		}
		/* Room for a piece, and for its entries, so that empty memory has its price, too. */
		if (walk->budget < 2 * PIECE_LEN) {
			walk->left_out += map->end - walk->next;
			walk->next_mapping++;
			continue;
		}
		walk->budget -= PIECE_PAGES * sizeof(uint64_t);
		if (!find_run(walk, walk->next, map->end, &start, &end)) {
			walk->next = map->end - walk->next < PIECE_LEN ? map->end
								       : walk->next + PIECE_LEN;
			continue;
		}
		walk->mapping = map;
		walk->next = end;
		if (read_run(walk, start, end))
			return true;
	}
	return false;
}
