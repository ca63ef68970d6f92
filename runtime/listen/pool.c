// SPDX-License-Identifier: MIT
// pool.c - the listener that follows work from where it is queued to where it is run
/*
 * Items are known by an argument of both functions (the site's param, counted from 1), or else by
 * their order: the n-th that is queued is the n-th that is run.
 */

#include "runtime/listen/pool.h"

#define TRIES 64

static uint64_t item_of(const struct call_ctx *ctx)
{
	const struct call *call = ctx->call;
	const uint64_t args[] = { call->rdi, call->rsi, call->rdx, call->rcx, call->r8, call->r9 };
	uint32_t param = ctx->site->param;

	return param && param <= sizeof(args) / sizeof(*args) ? args[param - 1] : 0;
}

/* The place of an item that is queued, or a free one for it (item 0); NULL if there is none. */
static uint64_t *place_of(struct uspl_pool *own, uint64_t item, bool make)
{
	uint64_t at = (item >> 4 ^ item >> 16) & (USPL_POOL_ITEMS - 1);

	for (unsigned i = 0; i < TRIES; i++) {
		if (own->items[at].item == item ||
		    (make && !own->items[at].item && swap(&own->items[at].item, 0, item)))
			return &own->items[at].item;
		at = (at + 1) & (USPL_POOL_ITEMS - 1);
	}
	return NULL;
}

static void enqueue(const struct call_ctx *ctx)
{
	struct uspl_pool *own = config_own(ctx->config);
	struct uspl_pool_thread *thread = ctx->thread;
	uint64_t item = item_of(ctx), *place, now = ticks();
	uint64_t n = __atomic_fetch_add(&own->queued, 1, __ATOMIC_RELAXED);
	uint64_t begun = __atomic_load_n(&own->begun, __ATOMIC_RELAXED);

	add_own(&thread->queued, 1);
	if (n + 1 > begun)
		raise_to(&own->waiting_max, n + 1 - begun);
	if (!ctx->site->param) {
		own->items[n & (USPL_POOL_ITEMS - 1)].since = now;
		return;
	}
	place = place_of(own, item, true);
	if (place)
		place[1] = now;
	else
		add_atomic(&ctx->config->missed, 1);
}

/* When the item that is run now was queued; 0: not seen. */
static uint64_t queued_at(const struct call_ctx *ctx, uint64_t n)
{
	struct uspl_pool *own = config_own(ctx->config);
	uint64_t *place, since;

	if (!ctx->site->param)
		return n < own->queued
			       ? __atomic_exchange_n(&own->items[n & (USPL_POOL_ITEMS - 1)].since,
						     0, __ATOMIC_RELAXED)
			       : 0;
	place = place_of(own, item_of(ctx), false);
	if (!place)
		return 0;
	since = place[1];
	place[1] = 0;
	__atomic_store_n(place, 0, __ATOMIC_RELEASE);
	return since;
}

static void begin(const struct call_ctx *ctx)
{
	struct uspl_pool *own = config_own(ctx->config);
	struct uspl_pool_thread *thread = ctx->thread;
	uint64_t n = __atomic_fetch_add(&own->begun, 1, __ATOMIC_RELAXED);
	uint64_t since = queued_at(ctx, n), now = ticks();

	add_own(&thread->run, 1);
	thread->open = ctx->at;
	if (!since) {
		add_atomic(&own->unmatched, 1);
		return;
	}
	add_own(&thread->timed, 1);
	if (now <= since)
		return;
	add_own(&thread->late, now - since);
	if (now - since > thread->late_max)
		thread->late_max = now - since;
}

void pool_enter(const struct call_ctx *ctx)
{
	if (ctx->config->halted)
		return;
	if (ctx->site->role == USPL_POOL_ENQUEUE)
		enqueue(ctx);
	else
		begin(ctx);
}

void pool_leave(const struct call_ctx *ctx)
{
	struct uspl_pool *own = config_own(ctx->config);
	struct uspl_pool_thread *thread = ctx->thread;
	uint64_t took = ticks() - ctx->start;

	if (thread->open != ctx->at)
		return;
	thread->open = 0;
	add_atomic(&own->done, 1);
	add_own(&thread->ran, took);
	if (took > thread->ran_max)
		thread->ran_max = took;
}
