// SPDX-License-Identifier: MIT
// pool.c - the listener that follows work from where it is queued to where it is run
/*
 * Items are known by an argument of both functions (the site's param, counted from 1), or else by
 * their order: the n-th that is queued is the n-th that is run.
 */

#include "runtime/listen/pool.h"

#define TRIES 64

static uint64_t item_of(const struct heard *heard)
{
	const struct call *call = heard->call;
	const uint64_t args[] = { call->rdi, call->rsi, call->rdx, call->rcx, call->r8, call->r9 };
	uint32_t param = heard->site->param;

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

static void enqueue(const struct heard *heard)
{
	struct uspl_pool *own = desk_own(heard->desk);
	struct uspl_pool_thread *thread = heard->thread;
	uint64_t item = item_of(heard), *place, now = ticks();
	uint64_t n = __atomic_fetch_add(&own->queued, 1, __ATOMIC_RELAXED);
	uint64_t begun = __atomic_load_n(&own->begun, __ATOMIC_RELAXED);

	add_own(&thread->queued, 1);
	if (n + 1 > begun)
		raise_to(&own->waiting_max, n + 1 - begun);
	if (!heard->site->param) {
		own->items[n & (USPL_POOL_ITEMS - 1)].since = now;
		return;
	}
	place = place_of(own, item, true);
	if (place)
		place[1] = now;
	else
		add_atomic(&heard->desk->missed, 1);
}

/* When the item that is run now was queued; 0: not seen. */
static uint64_t queued_at(const struct heard *heard, uint64_t n)
{
	struct uspl_pool *own = desk_own(heard->desk);
	uint64_t *place, since;

	if (!heard->site->param)
		return n < own->queued
			       ? __atomic_exchange_n(&own->items[n & (USPL_POOL_ITEMS - 1)].since,
						     0, __ATOMIC_RELAXED)
			       : 0;
	place = place_of(own, item_of(heard), false);
	if (!place)
		return 0;
	since = place[1];
	place[1] = 0;
	__atomic_store_n(place, 0, __ATOMIC_RELEASE);
	return since;
}

static void begin(const struct heard *heard)
{
	struct uspl_pool *own = desk_own(heard->desk);
	struct uspl_pool_thread *thread = heard->thread;
	uint64_t n = __atomic_fetch_add(&own->begun, 1, __ATOMIC_RELAXED);
	uint64_t since = queued_at(heard, n), now = ticks();

	add_own(&thread->run, 1);
	thread->open = heard->at;
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

void pool_enter(const struct heard *heard)
{
	if (heard->desk->halted)
		return;
	if (heard->site->role == USPL_POOL_ENQUEUE)
		enqueue(heard);
	else
		begin(heard);
}

void pool_leave(const struct heard *heard)
{
	struct uspl_pool *own = desk_own(heard->desk);
	struct uspl_pool_thread *thread = heard->thread;
	uint64_t took = ticks() - heard->start;

	if (thread->open != heard->at)
		return;
	thread->open = 0;
	add_atomic(&own->done, 1);
	add_own(&thread->ran, took);
	if (took > thread->ran_max)
		thread->ran_max = took;
}
