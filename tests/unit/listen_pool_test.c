// SPDX-License-Identifier: GPL-3.0-or-later
// listen_pool_test.c - what the listener of a pool of threads counts, of items in all orders
#include "runtime/listen/pool.c"
#include "tests/unit/listen_call_ctx.h"
#include "tests/unit/tap.h"

static struct ctx_thread *t;

static void queue(uint64_t item)
{
	t->call.rsi = item;
	pool_enter(ctx_call(t, USPL_POOL_ENQUEUE, 1, 0));
}

static void run(uint64_t item, bool returns)
{
	t->call.rsi = item;
	pool_enter(ctx_call(t, USPL_POOL_RUN, 2, ticks()));
	if (returns)
		pool_leave(&t->ctx);
}

static bool has(uint64_t queued, uint64_t begun, uint64_t done, uint64_t unmatched)
{
	const struct uspl_pool *own = t->own;

	return own->queued == queued && own->begun == begun && own->done == done &&
	       own->unmatched == unmatched;
}

static void test_order(void)
{
	const struct uspl_pool *own = t->own;
	const struct uspl_pool_thread *mine = t->thread;

	queue(0);
	queue(0);
	queue(0);
	ok(has(3, 0, 0, 0) && own->waiting_max == 3, "three are queued");
	run(0, true);
	run(0, false);
	ok(has(3, 2, 1, 0) && mine->timed == 2, "two are begun, one is done");
	run(0, true);
	ok(has(3, 3, 2, 0) && mine->timed == 3 && mine->late >= mine->late_max,
	   "the one that never returned stays open");
	run(0, true);
	ok(has(3, 4, 3, 1), "one more than were queued");
	queue(0);
	ok(own->waiting_max == 3, "as many as ever were waiting");
}

static void test_items(void)
{
	const struct uspl_pool_thread *mine = t->thread;

	t->site.param = 2;
	queue(0x1000);
	queue(0x2000);
	run(0x2000, true);
	ok(has(2, 1, 1, 0) && mine->timed == 1, "by item, out of order");
	run(0x3000, true);
	ok(has(2, 2, 2, 1), "one that wasn't queued");
	run(0x1000, true);
	run(0x1000, true);
	ok(has(2, 4, 4, 2), "one that is run twice was queued once");
	queue(0x1000);
	run(0x1000, true);
	ok(has(3, 5, 5, 2), "the same item again");
}

static void test_full(void)
{
	struct uspl_pool *own = t->own;

	t->site.param = 2;
	for (size_t i = 0; i < USPL_POOL_ITEMS; i++)
		own->items[i].item = UINT64_MAX;
	queue(0x1000);
	ok(t->config->missed == 1 && own->queued == 1,
	   "an item for which there is no room is missed");
	t->config->halted = 1;
	queue(0x2000);
	run(0x2000, false);
	ok(has(1, 0, 0, 0), "nothing counts while a trigger has stopped it");
}

int main(void)
{
	void (*const tests[])(void) = { test_order, test_items, test_full };

	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		t = ctx_thread_new(sizeof(struct uspl_pool), sizeof(struct uspl_pool_thread));
		tests[i]();
		ctx_thread_free(t);
	}
	return tap_done();
}
