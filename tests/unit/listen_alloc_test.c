// SPDX-License-Identifier: GPL-3.0-or-later
// listen_alloc_test.c - the books that the listener of allocations keeps, of calls in all orders
#include <sys/mman.h>

#include "runtime/listen/alloc.c"
#include "tests/unit/listen_call_ctx.h"
#include "tests/unit/tap.h"

static struct ctx_thread *t;
static uint64_t now = 100;

static struct uspl_alloc *own(void)
{
	return t->own;
}

static struct uspl_alloc_thread *mine(void)
{
	return t->thread;
}

/* What all call sites have together. */
static struct uspl_alloc_cell sum(void)
{
	struct uspl_alloc_cell all = { 0 };

	for (size_t i = 0; i < USPL_ALLOC_SITES; i++) {
		all.blocks += mine()->cells[i].blocks;
		all.bytes += mine()->cells[i].bytes;
		all.freed_blocks += mine()->cells[i].freed_blocks;
		all.freed_bytes += mine()->cells[i].freed_bytes;
	}
	return all;
}

static bool has(uint64_t blocks, uint64_t bytes, uint64_t freed_blocks, uint64_t freed_bytes)
{
	struct uspl_alloc_cell all = sum();

	return all.blocks == blocks && all.bytes == bytes && all.freed_blocks == freed_blocks &&
	       all.freed_bytes == freed_bytes;
}

static uint64_t word_at(uint64_t addr)
{
	uint64_t *word = word_of(own(), addr, false);

	return word ? *word : 0;
}

static void enter(unsigned role, unsigned depth, uint64_t rdi, uint64_t rsi, uint64_t rdx)
{
	t->call = (struct call){ .rdi = rdi, .rsi = rsi, .rdx = rdx };
	alloc_enter(ctx_call(t, role, depth, now++));
}

/* The call at that depth, which began last there. */
static void leave(unsigned role, unsigned depth, uint64_t result)
{
	uint64_t start = t->slots[(size_t)2 * (CTX_SLOTS - 1 - depth) + 1];

	t->call.rax = result;
	alloc_leave(ctx_call(t, role, depth, start));
}

static void begin(void)
{
	t = ctx_thread_new(sizeof(struct uspl_alloc), sizeof(struct uspl_alloc_thread));
	own()->leaves =
		(uint64_t)mmap(NULL, USPL_ALLOC_CHUNKS * USPL_ALLOC_LEAF, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static void end(void)
{
	munmap((void *)own()->leaves, USPL_ALLOC_CHUNKS * USPL_ALLOC_LEAF);
	ctx_thread_free(t);
}

#define BLOCK 0x7f0000001010ull

static void test_one(void)
{
	enter(USPL_ALLOC_MALLOC, 1, 100, 0, 0);
	ok(has(0, 0, 0, 0), "nothing counts before it has returned");
	leave(USPL_ALLOC_MALLOC, 1, BLOCK);
	ok(has(1, 100, 0, 0) && uspl_alloc_size(word_at(BLOCK)) == 100, "malloc");
	enter(USPL_ALLOC_FREE, 1, BLOCK, 0, 0);
	ok(has(1, 100, 1, 100) && !word_at(BLOCK), "free");
	enter(USPL_ALLOC_FREE, 1, BLOCK + 64, 0, 0);
	ok(mine()->strangers == 1, "a block that nobody knows");
	enter(USPL_ALLOC_FREE, 1, 0, 0, 0);
	ok(mine()->strangers == 1, "free(NULL) is nothing");
	enter(USPL_ALLOC_MALLOC, 1, 100, 0, 0);
	leave(USPL_ALLOC_MALLOC, 1, 0);
	ok(has(1, 100, 1, 100), "nor is a malloc that fails");
	enter(USPL_ALLOC_CALLOC, 1, 10, 30, 0);
	leave(USPL_ALLOC_CALLOC, 1, BLOCK);
	ok(uspl_alloc_size(word_at(BLOCK)) == 300, "calloc's product");
	enter(USPL_ALLOC_FREE, 1, BLOCK, 0, 0);
}

static void test_nested(void)
{
	enter(USPL_ALLOC_MALLOC, 1, 100, 0, 0); /* operator new */
	enter(USPL_ALLOC_MALLOC, 2, 116, 0, 0); /* its malloc */
	enter(USPL_ALLOC_MMAP, 3, 0, 4096, 0);  /* and that one's mmap */
	leave(USPL_ALLOC_MMAP, 3, BLOCK & -4096);
	leave(USPL_ALLOC_MALLOC, 2, BLOCK);
	leave(USPL_ALLOC_MALLOC, 1, BLOCK);
	ok(has(1, 100, 0, 0) && !own()->mapped, "of nested calls the outermost counts");
	enter(USPL_ALLOC_FREE, 1, BLOCK, 0, 0);
	enter(USPL_ALLOC_FREE, 2, BLOCK, 0, 0);
	ok(has(1, 100, 1, 100) && !mine()->strangers, "delete and its free are one");

	enter(USPL_ALLOC_MALLOC, 5, 1000, 0, 0); /* ends by an exception: no return */
	enter(USPL_ALLOC_MALLOC, 4, 10, 0, 0);
	leave(USPL_ALLOC_MALLOC, 4, BLOCK);
	ok(has(2, 110, 1, 100), "one that never returns doesn't hide what comes above it");
	enter(USPL_ALLOC_FREE, 1, BLOCK, 0, 0);
	enter(USPL_ALLOC_MALLOC, 3, 1000, 0, 0); /* the same, and its place is used again */
	ctx_call(t, USPL_ALLOC_MALLOC, 3, now++);
	enter(USPL_ALLOC_MALLOC, 6, 20, 0, 0);
	leave(USPL_ALLOC_MALLOC, 6, BLOCK);
	ok(has(3, 130, 2, 110), "nor what comes below it, when its place is another call's");
	enter(USPL_ALLOC_FREE, 1, BLOCK, 0, 0);
}

static void test_realloc(void)
{
	enter(USPL_ALLOC_REALLOC, 1, 0, 50, 0);
	leave(USPL_ALLOC_REALLOC, 1, BLOCK);
	ok(has(1, 50, 0, 0), "realloc(NULL) allocates");
	enter(USPL_ALLOC_REALLOC, 1, BLOCK, 500, 0);
	leave(USPL_ALLOC_REALLOC, 1, 0);
	ok(has(1, 50, 0, 0) && uspl_alloc_size(word_at(BLOCK)) == 50,
	   "one that fails leaves the block");
	enter(USPL_ALLOC_REALLOC, 1, BLOCK, 500, 0);
	leave(USPL_ALLOC_REALLOC, 1, BLOCK + 4096);
	ok(has(2, 550, 1, 50) && !word_at(BLOCK), "it moves");
	enter(USPL_ALLOC_REALLOCARRAY, 1, BLOCK + 4096, 8, 16);
	leave(USPL_ALLOC_REALLOCARRAY, 1, BLOCK + 4096);
	ok(has(3, 678, 2, 550) && uspl_alloc_size(word_at(BLOCK + 4096)) == 128, "reallocarray");
	enter(USPL_ALLOC_REALLOC, 1, BLOCK + 4096, 0, 0);
	leave(USPL_ALLOC_REALLOC, 1, 0);
	ok(has(3, 678, 3, 678), "realloc(block, 0) frees");
}

static void test_mappings(void)
{
	const uint64_t map = BLOCK & -4096;

	enter(USPL_ALLOC_MMAP, 1, 0, 10000, 0);
	leave(USPL_ALLOC_MMAP, 1, map);
	ok(own()->mapped == 12288 && has(1, 12288, 0, 0), "whole pages");
	enter(USPL_ALLOC_MALLOC, 1, 8, 0, 0);
	leave(USPL_ALLOC_MALLOC, 1, map);
	ok(uspl_alloc_size(word_at(map)) == 8, "a block at its beginning has a word of its own");
	enter(USPL_ALLOC_FREE, 1, map, 0, 0);
	enter(USPL_ALLOC_MUNMAP, 1, map, 4096, 0);
	ok(own()->mapped == 8192, "its first page goes");
	enter(USPL_ALLOC_MREMAP, 1, map + 4096, 8192, 40960);
	leave(USPL_ALLOC_MREMAP, 1, map + 0x100000);
	ok(own()->mapped == 40960, "the rest moves and grows");
	enter(USPL_ALLOC_MUNMAP, 1, map + 0x100000, 40960, 0);
	ok(!own()->mapped && own()->mapped_peak >= 40960, "all of it goes");
	enter(USPL_ALLOC_MMAP, 1, 0, 4096, 0);
	leave(USPL_ALLOC_MMAP, 1, UINT64_MAX);
	ok(!own()->mapped, "a mapping that fails is none");
}

static void test_limits(void)
{
	t->config->halted = 1;
	enter(USPL_ALLOC_MALLOC, 1, 100, 0, 0);
	leave(USPL_ALLOC_MALLOC, 1, BLOCK);
	ok(has(0, 0, 0, 0), "nothing is recorded while a trigger has stopped it");
	t->config->halted = 0;
	enter(USPL_ALLOC_MALLOC, 1, 100, 0, 0);
	leave(USPL_ALLOC_MALLOC, 1, BLOCK);
	t->config->halted = 1;
	enter(USPL_ALLOC_FREE, 1, BLOCK, 0, 0);
	ok(has(1, 100, 1, 100), "but that a block goes is");
	t->config->halted = 0;
	enter(USPL_ALLOC_MALLOC, 1, 1ull << 37, 0, 0);
	leave(USPL_ALLOC_MALLOC, 1, BLOCK);
	ok(t->config->missed == 1 && has(1, 100, 1, 100),
	   "a size that is too large is missed, and counted");
	for (uint64_t i = 0; i < USPL_ALLOC_CHUNKS; i++)
		own()->chunks[i] = UINT64_MAX;
	enter(USPL_ALLOC_MALLOC, 1, 100, 0, 0);
	leave(USPL_ALLOC_MALLOC, 1, BLOCK);
	ok(t->config->missed == 2 && has(1, 100, 1, 100), "so is one for which there is no leaf");
}

static void test_sites(void)
{
	bool one_site = true;

	for (uint64_t i = 0; i < USPL_ALLOC_SITES; i++)
		own()->sites[i] = UINT64_MAX;
	for (uint64_t i = 0; i < 10; i++)
		one_site &= site_of(own(), 0x500000 + i) == USPL_ALLOC_SITES - 1;
	ok(one_site, "those for whom there is no room have the last call site");
}

int main(void)
{
	void (*const tests[])(void) = { test_one,      test_nested, test_realloc,
					test_mappings, test_limits, test_sites };

	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		begin();
		tests[i]();
		end();
	}
	return tap_done();
}
