// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - a program that keeps its own books of what it allocates, by all functions that there are for it

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <thread>
#include <vector>

extern "C" {
#include "serve.h"
}

#define BLOCKS 1000

static void *kept[BLOCKS];

extern "C" {
void *by_malloc(size_t size), *by_calloc(size_t n, size_t size), *by_realloc(void *block, size_t size);
void *by_memalign(size_t size), *by_new(size_t size), *by_mmap(size_t size);
void *pool_get(size_t size);
void pool_put(void *block);
void mark(int n);

KEPT void *by_malloc(size_t size)
{
	void *block = malloc(size);

	memset(block, 1, size);
	return block;
}

KEPT void *by_calloc(size_t n, size_t size)
{
	void *block = calloc(n, size);

	asm volatile("" ::"r"(block) : "memory");
	return block;
}

KEPT void *by_realloc(void *block, size_t size)
{
	void *moved = realloc(block, size);

	asm volatile("" ::"r"(moved) : "memory");
	return moved;
}

KEPT void *by_memalign(size_t size)
{
	void *block = nullptr;

	if (posix_memalign(&block, 64, size))
		abort();
	return block;
}

KEPT void *by_new(size_t size)
{
	void *block = operator new(size);

	asm volatile("" ::"r"(block) : "memory");
	return block;
}

KEPT void *by_mmap(size_t size)
{
	void *map = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	asm volatile("" ::"r"(map) : "memory");
	return map;
}

/* An allocator of the program's own, which hands out parts of a large piece. */
static void *volatile last;
static volatile int marks;
static char piece[1 << 20];
static size_t used;

KEPT void *pool_get(size_t size)
{
	void *block = piece + used;

	used += (size + 15) & ~(size_t)15;
	return block;
}

KEPT void pool_put(void *block)
{
	last = block;
}

KEPT void mark(int n)
{
	marks += n + 1;
}
}

/* Blocks that nothing points to when their callers have returned, and others that something does. */
struct node {
	node *next;
	long room[6];
};

static node *volatile ring;
static char *volatile middle;
static thread_local void *volatile of_thread;
static volatile bool hiding;

extern "C" {
KEPT void *lost(size_t size)
{
	void *block = malloc(size);

	memset(block, 1, size);
	return block;
}

KEPT void *held(size_t size)
{
	void *block = malloc(size);

	memset(block, 1, size);
	return block;
}

KEPT node *linked()
{
	node *block = (node *)calloc(1, sizeof(*block));

	asm volatile("" ::"r"(block) : "memory");
	return block;
}

/* Where calls have left their values there are none then. */
KEPT void scrub()
{
	volatile char room[65536];

	memset((void *)room, 0, sizeof(room));
}

KEPT void make_ring(long n)
{
	ring = linked();
	ring->next = ring;
	for (long i = 1; i < n; i++) {
		node *more = linked();

		more->next = ring->next;
		ring->next = more;
	}
}
}

/* Its only pointers are in its own variable, on its stack, and in a register that calls keep. */
static void *hide(void *)
{
	void *volatile on_stack = held(201);

	of_thread = held(202);
	hiding = true;
	asm volatile("mov %0, %%rbx\n\txor %%eax, %%eax\n"
		     "1:\tmov $34, %%eax\n\txor %%edi, %%edi\n\tsyscall\n\txor %%ecx, %%ecx\n\tjmp 1b"
		     :
		     : "D"(held(203))
		     : "rax", "rbx", "rcx", "r11", "memory");
	return on_stack;
}

static void hide_in_thread()
{
	std::thread(hide, nullptr).detach();
	while (!hiding)
		std::this_thread::yield();
}

/* Threads that free what others have allocated. */
static void many_threads()
{
	std::vector<std::thread> threads;

	for (int i = 0; i < 4; i++)
		threads.emplace_back([i] {
			for (int k = 0; k < BLOCKS / 4; k++)
				kept[i * BLOCKS / 4 + k] = by_malloc(100);
		});
	for (auto &thread : threads)
		thread.join();
	threads.clear();
	for (int i = 0; i < 4; i++)
		threads.emplace_back([i] {
			for (int k = 0; k < BLOCKS / 4; k++)
				free(kept[(3 - i) * BLOCKS / 4 + k]);
		});
	for (auto &thread : threads)
		thread.join();
}

/* A failed one must not be taken for one that goes on. */
static void throwing()
{
	try {
		kept[0] = by_new((size_t)1 << 46);
	} catch (const std::bad_alloc &) {
		kept[0] = by_malloc(77);
	}
}

extern "C" void answer(const char *request, char *reply, size_t size)
{
	char word[LINE_SIZE] = "";
	long n = 0;

	sscanf(request, "%s %ld", word, &n);
	if (!strcmp(word, "malloc"))
		for (long i = 0; i < n; i++)
			kept[i] = by_malloc(1000);
	else if (!strcmp(word, "free"))
		for (long i = 0; i < n; i++)
			free(kept[i]);
	else if (!strcmp(word, "calloc"))
		kept[0] = by_calloc(10, n);
	else if (!strcmp(word, "realloc"))
		kept[0] = by_realloc(kept[0], n);
	else if (!strcmp(word, "memalign"))
		kept[0] = by_memalign(n);
	else if (!strcmp(word, "new"))
		kept[0] = by_new(n);
	else if (!strcmp(word, "delete"))
		operator delete(kept[0]);
	else if (!strcmp(word, "mmap"))
		kept[0] = by_mmap(n);
	else if (!strcmp(word, "munmap"))
		munmap(kept[0], n);
	else if (!strcmp(word, "lose"))
		for (long i = 0; i < n; i++)
			lost(100);
	else if (!strcmp(word, "ring"))
		make_ring(n);
	else if (!strcmp(word, "unring"))
		ring = nullptr;
	else if (!strcmp(word, "middle"))
		middle = (char *)held(n) + n / 2;
	else if (!strcmp(word, "hide"))
		hide_in_thread();
	else if (!strcmp(word, "threads"))
		many_threads();
	else if (!strcmp(word, "throw"))
		throwing();
	else if (!strcmp(word, "pool"))
		kept[0] = pool_get(n);
	else if (!strcmp(word, "put"))
		pool_put(kept[0]);
	else if (!strcmp(word, "mark"))
		mark((int)n);
	scrub();
	snprintf(reply, size, "%ld", n);
}
