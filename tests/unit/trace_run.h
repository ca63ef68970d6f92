/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_run.h - the tracer's runtime in a test's own process: functions that it traces, and what it
 * has recorded
 *
 * The functions are compiled with five bytes of NOPs at their entry; here these become jumps to
 * thunks.
 */
#ifndef USPL_TESTS_TRACE_RUN_H
#define USPL_TESTS_TRACE_RUN_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/arch.h"
#include "arch/x86_64/x86_64.h"
#include "near_code.h"
#include "tap.h"
#include "uspl/trace_abi.h"

#if __has_attribute(noclone)
#define NOCLONE noclone,
#else
#define NOCLONE
#endif
#define TRACED __attribute__((NOCLONE noinline, patchable_function_entry(5, 0)))
#define N_RINGS 64
#define RING_BYTES (1 << 20)
#define RING_DATA (RING_BYTES / 2)
#define SHADOW (1ull << 45)

extern void __register_frame(void *section);

enum { SITES_MAX = 64 };

static struct tracer {
	uint8_t *code; /* the runtime, its control page, the thunks, their frames */
	struct uspl_trace_control *control;
	struct uspl_trace_counters *counters;
	uint8_t *thunks, *rings;
	uint32_t n;
	void *sites[SITES_MAX];
} tracer;

static inline void *near_code(size_t len)
{
	void *map = map_near((const void *)(uintptr_t)near_code, len);

	if (!map)
		abort();
	return map;
}

static inline void *pages(size_t len, int flags)
{
	void *map = mmap(NULL, len, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		abort();
	return map;
}

/* Where the libc keeps the thread's id, found as a tool would: by looking for it. */
static inline int64_t tid_offset(void)
{
	const char *self = __builtin_thread_pointer();
	int32_t tid = (int32_t)syscall(SYS_gettid);

	for (int64_t off = 0; off < 2048; off += 4)
		if (!memcmp(self + off, &tid, sizeof(tid)))
			return off;
	return 0;
}

#define KEPT_LEN (TK_NAMES + (size_t)USPL_TRACE_KEPT_CHUNKS * USPL_TRACE_NAMES)

static inline void set_up(void)
{
	size_t thunks = SITES_MAX * USPL_TRACE_THUNK;
	auto_buf struct buf frames = { 0 };
	uint8_t *tables;

	tracer.code = near_code(USPL_TRACE_CONTROL + 3 * PAGE);
	memcpy(tracer.code, uspl_trace_begin, (size_t)(uspl_trace_end - uspl_trace_begin));
	tracer.control = (void *)(tracer.code + USPL_TRACE_CONTROL);
	tracer.thunks = tracer.code + USPL_TRACE_CONTROL + PAGE;
	tracer.rings = pages((size_t)N_RINGS * RING_BYTES, MAP_SHARED);
	tables = pages(USPL_TRACE_THREADS * sizeof(struct uspl_trace_thread) +
			       USPL_TRACE_CHUNKS * sizeof(uint64_t) + PAGE,
		       MAP_PRIVATE);
	tracer.counters = (void *)(tables + USPL_TRACE_THREADS * sizeof(struct uspl_trace_thread) +
				   USPL_TRACE_CHUNKS * sizeof(uint64_t));
	tracer.counters->enabled = 1;
	*tracer.control = (struct uspl_trace_control){
		.threads = (uintptr_t)tables,
		.chunks = (uintptr_t)tables + USPL_TRACE_THREADS * sizeof(struct uspl_trace_thread),
		.rings = (uintptr_t)tracer.rings,
		.ring_bytes = RING_BYTES,
		.ring_mask = RING_DATA - 1,
		.counters = (uintptr_t)tracer.counters,
		.n_rings = N_RINGS,
		.tid_offset = tid_offset(),
		.shadow = SHADOW,
		.kept = (uintptr_t)pages(KEPT_LEN, MAP_SHARED | MAP_NORESERVE),
		.arenas = { { (uintptr_t)tracer.thunks, thunks } },
	};
	arch_native()->thunk_frames(&frames, (uintptr_t)tracer.thunks + PAGE,
				    (uintptr_t)tracer.thunks, thunks, 0, SHADOW);
	memcpy(tracer.thunks + PAGE, frames.data, frames.len);
	__register_frame(tracer.thunks + PAGE);
}

/* Makes the function's NOPs a jump to a thunk; returns the id of its records. */
static inline uint32_t trace(void *function, bool entry_only)
{
	uintptr_t at = (uintptr_t)function, page = at & ~(uintptr_t)(PAGE - 1);
	uint8_t *code = tracer.thunks + tracer.n * USPL_TRACE_THUNK;
	struct thunk thunk = { .at = (uintptr_t)code,
			       .body = at + 5,
			       .runtime = (uintptr_t)tracer.code,
			       .id = ++tracer.n,
			       .limited = tracer.control->depth != 0 };

	if (!(entry_only ? arch_native()->thunk_entry : arch_native()->thunk_call)(&thunk, code) ||
	    mprotect((void *)page, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) ||
	    !arch_native()->jump_encode(at, thunk.at, function))
		abort();
	tracer.sites[thunk.id] = function;
	return thunk.id;
}

static inline void untrace(uint32_t id)
{
	static const uint8_t nops[5] = { 0x90, 0x90, 0x90, 0x90, 0x90 };

	memcpy(tracer.sites[id], nops, sizeof(nops));
}

static inline struct uspl_trace_ring *ring_of(uint64_t tid)
{
	for (uint64_t i = 0; i < tracer.counters->next_ring && i < N_RINGS; i++) {
		struct uspl_trace_ring *ring = (void *)(tracer.rings + i * RING_BYTES);

		if (ring->tid == tid)
			return ring;
	}
	return NULL;
}

static inline struct uspl_trace_ring *my_ring(void)
{
	return ring_of((uint64_t)syscall(SYS_gettid));
}

static inline const struct uspl_trace_call *record_at(const struct uspl_trace_ring *ring,
						      uint64_t pos)
{
	return (const void *)((const char *)ring + USPL_TRACE_RING_HEADER +
			      (pos & (RING_DATA - 1)));
}

/* How many records with that id lie in the ring from `from` on. */
static inline uint64_t count(const struct uspl_trace_ring *ring, uint64_t from, uint32_t id)
{
	uint64_t n = 0;

	for (; ring && from < ring->pos; from += USPL_TRACE_RECORD)
		n += (record_at(ring, from)->id & ~USPL_TRACE_ID_LONG) == id;
	return n;
}

static inline uint64_t position(void)
{
	const struct uspl_trace_ring *ring = my_ring();

	return ring ? ring->pos : 0;
}

/* Makes 2 * F(n + 1) - 1 calls. */
TRACED __attribute__((unused)) static long fib(long n)
{
	long a, b;

	if (n < 2)
		return n;
	a = fib(n - 1);
	b = fib(n - 2);
	/* Keeps the compiler from making a loop of the second call. */
	__asm__ volatile("" : "+r"(b));
	return a + b;
}

#endif
