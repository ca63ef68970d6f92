// SPDX-License-Identifier: GPL-3.0-or-later
// heads_test.c - mappings that begin with some bytes are found among many

#include <sys/mman.h>
#include <unistd.h>

#include "record/heads.h"
#include "tap.h"

#define MAGIC 0x3147414d54534554ull
#define PAGES 200 /* more than are read at once, several times */

/* As many mappings: neighbours differ in their protection. */
static char *map_pages(void)
{
	char *pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);

	for (size_t i = 0; pages != MAP_FAILED && i < PAGES; i += 2)
		mprotect(pages + i * PAGE, PAGE, PROT_READ);
	return pages;
}

static void mark(char *pages, size_t i)
{
	mprotect(pages + i * PAGE, PAGE, PROT_READ | PROT_WRITE);
	*(uint64_t *)(void *)(pages + i * PAGE) = MAGIC;
	mprotect(pages + i * PAGE, PAGE, i % 2 ? PROT_READ | PROT_WRITE : PROT_READ);
}

/* How many of those pages are returned; *ret_all counts all mappings that are. */
static size_t count(const struct proc *proc, const char *pages, size_t *ret_all)
{
	struct heads heads = { .proc = proc, .magic = MAGIC };
	const struct mapping *map;
	size_t n = 0;

	*ret_all = 0;
	while ((map = heads_next(&heads))) {
		++*ret_all;
		n += map->start >= (taddr)pages && map->start < (taddr)pages + PAGES * PAGE;
	}
	return n;
}

/* True if the one at page i is among those that are returned. */
static bool is_found(const struct proc *proc, const char *pages, size_t i)
{
	struct heads heads = { .proc = proc, .magic = MAGIC };
	const struct mapping *map;

	while ((map = heads_next(&heads)))
		if (map->start == (taddr)pages + i * PAGE)
			return true;
	return false;
}

int main(void)
{
	static const size_t marked[] = { 0, 1, 64, 128, PAGES - 1 };
	char *pages = map_pages();
	auto_proc struct proc *proc = NULL;
	struct uspl_err err = { 0 };
	size_t all;

	if (pages == MAP_FAILED || proc_open_readonly(getpid(), &proc, &err) != 0)
		tap_skip_all("this process can't be read");
	ok(count(proc, pages, &all) == 0 && all == 0, "where there are none, none are found");
	for (size_t i = 0; i < ARRAY_SIZE(marked); i++)
		mark(pages, marked[i]);
	ok(count(proc, pages, &all) == ARRAY_SIZE(marked) && all == ARRAY_SIZE(marked),
	   "those that begin so are found, and no others");
	for (size_t i = 0; i < ARRAY_SIZE(marked); i++)
		ok(is_found(proc, pages, marked[i]), "page %zu is", marked[i]);
	/* Now some can't be read, and the process's list doesn't say so. */
	munmap(pages + 2 * PAGE, PAGE);
	ok(count(proc, pages, &all) == ARRAY_SIZE(marked) && all == ARRAY_SIZE(marked),
	   "where they can't be read together, one that isn't there is left out");
	for (size_t i = 0; i < ARRAY_SIZE(marked); i++)
		ok(is_found(proc, pages, marked[i]), "page %zu still is", marked[i]);
	ok(!is_found(proc, pages, 66), "nor are others, in another batch");
	return tap_done();
}
