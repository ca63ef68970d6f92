// SPDX-License-Identifier: GPL-3.0-or-later
// workers_memory.cc - mappings that come and go, and restartable sequences

#include "stress.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define HAVE_RSEQ 1
#endif

#define LEN (64u << 10)

static void run_mappings(struct worker *self)
{
	for (unsigned char fill = 1;; fill++) {
		unsigned char *map = static_cast<unsigned char *>(
			mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

		if (map == MAP_FAILED) {
			wrong("no memory");
			continue;
		}
		memset(map, fill, LEN);
		mprotect(map, LEN / 2, PROT_READ);
		expect_version("between mappings", both());
		for (unsigned int i = 0; i < LEN; i += 4096)
			if (map[i] != fill)
				wrong("memory has changed");
		munmap(map, LEN);
		self->done = self->done + 1;
		nap_us(200);
	}
}

#ifdef HAVE_RSEQ
#define PROCESSORS 512
#define BATCH 10000
#define ADDERS 2

static struct counter {
	alignas(64) uint64_t n;
} counters[PROCESSORS];
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_barrier(void)
{
	pthread_barrier_init(&barrier, NULL, ADDERS);
}

/*
 * Adds one to the counter of the processor that the thread runs on, in a sequence that the kernel lets begin anew if it is put off
 * (rseq(2); struct rseq has cpu_id at 4 and rseq_cs at 8). False if it did.
 */
static bool add_here(void)
{
	uint64_t done = 0;

	__asm__ volatile(".pushsection .data, \"aw\"\n"
			 ".balign 32\n"
			 "3: .long 0, 0\n"
			 ".quad 1f, 2f - 1f, 4f\n"
			 ".popsection\n"
			 "lea 3b(%%rip), %%rax\n"
			 "mov %%rax, %%fs:8(%[rseq])\n"
			 "1: mov %%fs:4(%[rseq]), %%eax\n"
			 "shl $6, %%rax\n"
			 "add %[counters], %%rax\n"
			 "mov (%%rax), %%rcx\n"
			 "inc %%rcx\n"
			 "mov %%rcx, (%%rax)\n"
			 "2: mov $1, %[done]\n"
			 "jmp 5f\n"
			 ".byte 0x0f, 0xb9, 0x3d\n"
			 ".long 0x53053053\n" /* the signature that glibc registers */
			 "4: xor %[done], %[done]\n"
			 "5:\n"
			 : [done] "+r"(done)
			 : [rseq] "r"(static_cast<intptr_t>(__rseq_offset)),
			   [counters] "r"(counters)
			 : "rax", "rcx", "memory", "cc");
	return done;
}

static uint64_t sum(void)
{
	uint64_t n = 0;

	for (const struct counter &counter : counters)
		n += counter.n;
	return n;
}

static void run_rseq(struct worker *self)
{
	pthread_once(&once, make_barrier);
	for (uint64_t batches = 1;; batches++) {
		for (int i = 0; __rseq_size && i < BATCH;)
			i += add_here();
		expect_version("between sequences", both());
		if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD && __rseq_size &&
		    sum() != batches * BATCH * ADDERS)
			wrong("rseq: %lu instead of %lu", sum(), batches * BATCH * ADDERS);
		pthread_barrier_wait(&barrier);
		self->done = self->done + 1;
		nap_us(1000);
	}
}
#endif

WORKERS(memory_workers) = { { "mappings", run_mappings, 0 },
#ifdef HAVE_RSEQ
			    { "rseq", run_rseq, 0 },
			    { "rseq2", run_rseq, 0 },
#endif
			    {} };
