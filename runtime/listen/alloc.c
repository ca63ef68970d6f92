// SPDX-License-Identifier: MIT
// alloc.c - the listener that keeps account of memory: which blocks are live, and which call sites
// asked for them
/*
 * Of nested calls (operator new calls malloc, calloc may call malloc, malloc calls mmap) the
 * outermost counts. It is open as long as its slot in the shadow has its time; one that ended by an
 * exception is forgotten when its place on the stack is used again.
 *
 * A live block is a word in a leaf: a leaf stands for 2 MiB of memory, 8 bytes for 8 bytes, so that
 * nothing is searched and only the owner of a block writes its word. Leaves are never given back;
 * they are memory only where there are blocks. A mapping's word is the one behind that of its first
 * byte, so that a block which begins a mapping has its own.
 *
 * A block is taken out before it is freed and put in after it was allocated: in between it may be
 * another thread's already.
 */

#include "runtime/listen/alloc.h"

#define PAGE 4096ull
#define TRIES 32
#define SIZE_MASK ((1ull << USPL_ALLOC_SIZE_BITS) - 1)
#define AGE_MAX ((1ull << USPL_ALLOC_AGE_BITS) - 1)
#define NEAR (1ull << 20) /* calls within a call are no deeper than this */
#define MAP_FAILED_VALUE UINT64_MAX

/* The word of a block; NULL where there is no room for it. */
static uint64_t *word_of(struct uspl_alloc *own, uint64_t addr, bool make)
{
	uint64_t chunk = (addr >> USPL_ALLOC_CHUNK_SHIFT) + 1;
	uint64_t at = chunk & (USPL_ALLOC_CHUNKS - 1);

	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t have = __atomic_load_n(&own->chunks[at], __ATOMIC_RELAXED);

		if (!have && make && swap(&own->chunks[at], 0, chunk))
			have = chunk;
		else if (!have && make)
			have = own->chunks[at];
		if (have == chunk)
			return (uint64_t *)(own->leaves + at * USPL_ALLOC_LEAF +
					    (addr & (USPL_ALLOC_LEAF - 8)));
		if (!have)
			return NULL;
		at = (at + 1) & (USPL_ALLOC_CHUNKS - 1);
	}
	return NULL;
}

/* The number of a call site; the last one is for all call sites that have no room. */
static uint32_t site_of(struct uspl_alloc *own, uint64_t caller)
{
	uint64_t at = (caller ^ caller >> 13) & (USPL_ALLOC_SITES - 1);

	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t have = __atomic_load_n(&own->sites[at], __ATOMIC_RELAXED);

		if (have == caller || (!have && swap(&own->sites[at], 0, caller)) ||
		    own->sites[at] == caller)
			return (uint32_t)at;
		at = (at + 1) & (USPL_ALLOC_SITES - 1);
	}
	return USPL_ALLOC_SITES - 1;
}

/* What is live, for all threads; each thread adds its own when that has come to a few KB. */
static void add_live(const struct call_ctx *ctx, uint64_t size)
{
	struct uspl_alloc *own = config_own(ctx->config);
	struct uspl_alloc_thread *thread = ctx->thread;
	int64_t pending = (int64_t)(thread->pending += size);

	if (pending < USPL_ALLOC_PENDING && pending > -USPL_ALLOC_PENDING)
		return;
	thread->pending -= (uint64_t)pending;
	raise_to(&own->peak, __atomic_add_fetch(&own->live, (uint64_t)pending, __ATOMIC_RELAXED));
}

/* Notes a block that is there from now on. */
static void put(const struct call_ctx *ctx, uint64_t addr, uint64_t size, bool mapping)
{
	struct uspl_alloc *own = config_own(ctx->config);
	struct uspl_alloc_thread *thread = ctx->thread;
	uint64_t *word = word_of(own, mapping ? addr + 8 : addr, true);
	uint32_t site = site_of(own, ctx->caller);
	uint64_t age = (ctx->start - ctx->config->start_ticks) >> USPL_ALLOC_AGE_SHIFT;
	uint64_t field = (mapping ? size >> USPL_ALLOC_PAGE_SHIFT : size) + 1, now;
	unsigned bits;

	if (!word || field > SIZE_MASK) {
		add_atomic(&ctx->config->missed, 1);
		return;
	}
	if (age > AGE_MAX)
		age = AGE_MAX;
	add_own(&thread->cells[site].blocks, 1);
	add_own(&thread->cells[site].bytes, size);
	*word = field | age << USPL_ALLOC_SIZE_BITS | (uint64_t)mapping << USPL_ALLOC_MAP_BIT |
		(uint64_t)site << USPL_ALLOC_SITE_SHIFT;
	if (mapping) {
		now = __atomic_add_fetch(&own->mapped, size, __ATOMIC_RELAXED);
		raise_to(&own->mapped_peak, now);
		return;
	}
	bits = size ? 64 - (unsigned)__builtin_clzll(size) : 0;
	add_own(&thread->sizes[bits < USPL_ALLOC_SIZES ? bits : USPL_ALLOC_SIZES - 1], 1);
	add_live(ctx, size);
}

/* Counts a block as freed; its word has left the leaf. */
static void settle(const struct call_ctx *ctx, uint64_t word)
{
	struct uspl_alloc *own = config_own(ctx->config);
	struct uspl_alloc_thread *thread = ctx->thread;
	struct uspl_alloc_cell *cell = &thread->cells[word >> USPL_ALLOC_SITE_SHIFT];
	uint64_t size = uspl_alloc_size(word);

	add_own(&cell->freed_blocks, 1);
	add_own(&cell->freed_bytes, size);
	if (word >> USPL_ALLOC_MAP_BIT & 1)
		add_atomic(&own->mapped, -size);
	else
		add_live(ctx, -size);
}

/* Takes a block's word out of its leaf; 0 if it isn't known. */
static uint64_t take(const struct call_ctx *ctx, uint64_t addr)
{
	uint64_t *place = addr ? word_of(config_own(ctx->config), addr, false) : NULL;

	uint64_t word = place ? *place : 0;

	/* No other thread has the block's address. */
	if (word)
		*place = 0;
	return word;
}

/* delete calls free with the same block: it counts once. */
static void release(const struct call_ctx *ctx, uint64_t addr)
{
	struct uspl_alloc_thread *thread = ctx->thread;
	uint64_t word = take(ctx, addr);

	if (word)
		settle(ctx, word);
	else if (addr && addr != thread->released)
		add_own(&thread->strangers, 1);
	thread->released = addr;
}

/* Frees a mapping's beginning, or all of it; what is cut out of its middle isn't followed. */
static void unmap(const struct call_ctx *ctx, uint64_t addr, uint64_t len)
{
	struct uspl_alloc *own = config_own(ctx->config);
	uint64_t word = take(ctx, addr + 8), size = uspl_alloc_size(word), *rest;

	if (!word)
		return;
	len = (len + PAGE - 1) & -PAGE;
	if (len >= size) {
		settle(ctx, word);
		return;
	}
	add_atomic(&own->mapped, -len);
	add_own(&((struct uspl_alloc_thread *)ctx->thread)
			 ->cells[word >> USPL_ALLOC_SITE_SHIFT]
			 .freed_bytes,
		len);
	rest = word_of(own, addr + len + 8, true);
	if (rest)
		*rest = word - (len >> USPL_ALLOC_PAGE_SHIFT);
}

static bool is_nested(const struct call_ctx *ctx)
{
	const struct uspl_alloc_thread *thread = ctx->thread;

	return thread->outer > ctx->at && thread->outer - ctx->at < NEAR &&
	       listen_slot(thread->outer)[1] == thread->began;
}

/* What an allocation asks for. */
static uint64_t size_asked(const struct call_ctx *ctx)
{
	const struct call *call = ctx->call;

	switch (ctx->site->role) {
	case USPL_ALLOC_CALLOC:
		return call->rdi * call->rsi;
	case USPL_ALLOC_REALLOCARRAY:
		return call->rsi * call->rdx;
	case USPL_ALLOC_REALLOC:
	case USPL_ALLOC_MEMALIGN:
		return call->rsi;
	case USPL_ALLOC_POSIX_MEMALIGN:
	case USPL_ALLOC_MREMAP:
		return call->rdx;
	case USPL_ALLOC_MMAP:
		return (call->rsi + PAGE - 1) & -PAGE;
	default:
		return call->rdi;
	}
}

void alloc_enter(const struct call_ctx *ctx)
{
	struct uspl_alloc_thread *thread = ctx->thread;
	const struct call *call = ctx->call;
	unsigned role = ctx->site->role;

	if (is_nested(ctx))
		return;
	if (role == USPL_ALLOC_FREE || role == USPL_ALLOC_MUNMAP) {
		thread->outer = 0;
		if (role == USPL_ALLOC_FREE)
			release(ctx, call->rdi);
		else
			unmap(ctx, call->rdi, call->rsi);
		return;
	}
	if (ctx->config->halted)
		return;
	thread->began = ctx->start;
	thread->arg = call->rdi;
	thread->size = size_asked(ctx);
	thread->old = 0;
	if (role == USPL_ALLOC_REALLOC || role == USPL_ALLOC_REALLOCARRAY)
		thread->old = take(ctx, call->rdi);
	else if (role == USPL_ALLOC_MREMAP)
		thread->old = take(ctx, call->rdi + 8);
	thread->outer = ctx->at;
}

/* The old block is gone if there is a new one, or if none was asked for; else it has stayed. */
static void leave_moved(const struct call_ctx *ctx, uint64_t addr, bool mapping)
{
	struct uspl_alloc_thread *thread = ctx->thread;
	uint64_t *place;

	if (thread->old && (addr || !thread->size)) {
		settle(ctx, thread->old);
	} else if (thread->old) {
		place = word_of(config_own(ctx->config), mapping ? thread->arg + 8 : thread->arg,
				true);
		if (place)
			*place = thread->old;
	}
	if (addr)
		put(ctx, addr, mapping ? (thread->size + PAGE - 1) & -PAGE : thread->size, mapping);
}

void alloc_leave(const struct call_ctx *ctx)
{
	struct uspl_alloc_thread *thread = ctx->thread;
	uint64_t result = ctx->call->rax;

	if (thread->outer != ctx->at)
		return;
	thread->outer = 0;
	thread->released = 0;
	switch (ctx->site->role) {
	case USPL_ALLOC_POSIX_MEMALIGN:
		if (!(uint32_t)result)
			put(ctx, *(const uint64_t *)thread->arg, thread->size, false);
		break;
	case USPL_ALLOC_MMAP:
		if (result != MAP_FAILED_VALUE)
			put(ctx, result, thread->size, true);
		break;
	case USPL_ALLOC_MREMAP:
		leave_moved(ctx, result == MAP_FAILED_VALUE ? 0 : result, true);
		break;
	case USPL_ALLOC_REALLOC:
	case USPL_ALLOC_REALLOCARRAY:
		leave_moved(ctx, result, false);
		break;
	default:
		if (result)
			put(ctx, result, thread->size, false);
	}
}
