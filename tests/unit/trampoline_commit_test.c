// SPDX-License-Identifier: GPL-3.0-or-later
// trampoline_commit_test.c - a hold that ends by a commit byte, and where a trampoline has the
// stack pointer meanwhile

#include <pthread.h>
#include <sched.h>

#include "trampoline_stage.h"

#define RACES 200

static void test_commits(void)
{
	set_selector(USPL_SELECTOR_HOLD_OLD, USPL_COMMIT_NEW);
	ok(call() == 2 && selector_is(&stage->selector, USPL_SELECTOR_NEW, USPL_COMMIT_NONE),
	   "a hold with the verdict NEW becomes NEW, whose verdict is none");
	set_selector(USPL_SELECTOR_HOLD_OLD, USPL_COMMIT_OLD);
	ok(call() == 1 && selector_is(&stage->selector, USPL_SELECTOR_OLD, USPL_COMMIT_NONE),
	   "with the verdict OLD it becomes OLD");
	set_selector(USPL_SELECTOR_HOLD_NEW, USPL_COMMIT_OLD);
	ok(call() == 1 && selector_is(&stage->selector, USPL_SELECTOR_OLD, USPL_COMMIT_NONE),
	   "so does the hold of an undo");
	set_selector(USPL_SELECTOR_HOLD_NEW, USPL_COMMIT_NEW);
	ok(call() == 2 && selector_is(&stage->selector, USPL_SELECTOR_NEW, USPL_COMMIT_NONE),
	   "which may become NEW again");
	set_selector(USPL_SELECTOR_OLD, USPL_COMMIT_NEW);
	ok(call() == 1 && selector_is(&stage->selector, USPL_SELECTOR_OLD, USPL_COMMIT_NEW),
	   "beside a word that doesn't hold, a verdict is of no account");
	set_selector(USPL_SELECTOR_NEW, USPL_COMMIT_OLD);
	ok(call() == 2 && selector_is(&stage->selector, USPL_SELECTOR_NEW, USPL_COMMIT_OLD),
	   "whichever it is");
	set_selector(USPL_SELECTOR_FOLLOW, USPL_COMMIT_NONE);
	stage->selector.leader = address(&stage->leader);
	stage->leader = (struct uspl_selector){ .value = USPL_SELECTOR_HOLD_OLD,
						.commit = USPL_COMMIT_NEW,
						.turns = 1000,
						.all_turns = 5000 };
	ok(call() == 2 && selector_is(&stage->leader, USPL_SELECTOR_NEW, USPL_COMMIT_NONE) &&
		   stage->selector.value == USPL_SELECTOR_FOLLOW,
	   "a trampoline that follows ends the hold of the word that decides");
}

static struct uspl_inside *inside_of(struct uspl_selector *selector)
{
	return (struct uspl_inside *)(void *)((uint8_t *)selector + USPL_INSIDE_AT);
}

static void set_drain(struct uspl_selector *selector, uint8_t value, uint64_t low, uint64_t high)
{
	*selector = (struct uspl_selector){ .value = value | USPL_SELECTOR_DRAIN,
					    .turns = 1000,
					    .all_turns = 5000,
					    .leader = address(selector) };
	/* The range is the second one: another thread's comes first. */
	inside_of(selector)[0] = (struct uspl_inside){ 16, 32 };
	inside_of(selector)[1] = (struct uspl_inside){ low, high };
	inside_of(selector)[2] = (struct uspl_inside){ 0, 0 };
}

static void test_drain(void)
{
	const uint8_t hold_old = USPL_SELECTOR_HOLD_OLD, hold_new = USPL_SELECTOR_HOLD_NEW;
	uint64_t here = stack_here();

	set_drain(&stage->selector, hold_old, here - PAGE, here + PAGE);
	ok(call() == 1 && stage->selector.value == (hold_old | USPL_SELECTOR_DRAIN) &&
		   stage->selector.all_turns == 5000,
	   "a thread that is inside passes a drain, to OLD, without a turn of waiting");
	set_drain(&stage->selector, hold_new, here - PAGE, here + PAGE);
	ok(call() == 2 && stage->selector.value == (hold_new | USPL_SELECTOR_DRAIN), "or to NEW");
	set_drain(&stage->selector, hold_old, here - 3 * PAGE, here - 2 * PAGE);
	ok(call() == 1 && selector_is(&stage->selector, USPL_SELECTOR_OLD, USPL_COMMIT_NONE) &&
		   stage->selector.all_turns < 4100,
	   "one above all ranges waits until its turns are over");
	set_drain(&stage->selector, hold_new, here + PAGE, here + 2 * PAGE);
	ok(call() == 2 && selector_is(&stage->selector, USPL_SELECTOR_NEW, USPL_COMMIT_NONE) &&
		   stage->selector.all_turns < 4100,
	   "and one below");
	set_drain(&stage->selector, hold_old, here - PAGE, here + PAGE);
	stage->selector.commit = USPL_COMMIT_NEW;
	inside_of(&stage->selector)[0].high = 0;
	ok(call() == 2 && selector_is(&stage->selector, USPL_SELECTOR_NEW, USPL_COMMIT_NONE),
	   "what is behind the end of the ranges is of no account; a verdict ends the wait");
	set_selector(USPL_SELECTOR_FOLLOW, USPL_COMMIT_NONE);
	stage->selector.leader = address(&stage->leader);
	set_drain(&stage->leader, hold_old, here - PAGE, here + PAGE);
	ok(call() == 1 && stage->leader.value == (hold_old | USPL_SELECTOR_DRAIN),
	   "a trampoline that follows goes by the ranges of the word that decides");
}

/* Exactly which stack pointers are inside: low is, high isn't. */
static void test_bounds(void)
{
	uint64_t at = 0;
	bool right = true;

	/*
	 * The entry's stack pointer is the only value for which the range [at, at + 1) lets it
	 * pass.
	 */
	for (uint64_t sp = stack_here() - 512; sp < stack_here() + 64 && !at; sp += 8) {
		set_drain(&stage->selector, USPL_SELECTOR_HOLD_OLD, sp, sp + 1);
		if (call() == 1 && stage->selector.value != USPL_SELECTOR_OLD)
			at = sp;
	}
	set_drain(&stage->selector, USPL_SELECTOR_HOLD_OLD, at - 64, at);
	right &= call() == 1 && stage->selector.value == USPL_SELECTOR_OLD;
	set_drain(&stage->selector, USPL_SELECTOR_HOLD_OLD, at + 1, at + 64);
	right &= call() == 1 && stage->selector.value == USPL_SELECTOR_OLD;
	ok(at && right, "a range holds its low end and not its high one");
}

static void *call_until_new(void *olds)
{
	while (call() == 1)
		__atomic_add_fetch((uint64_t *)olds, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

/*
 * A writer of one byte against waiters whose hold timeouts end all the time: whenever the selector
 * was held when the commit byte had been written, nobody comes to the old code any more.
 */
static void test_race(void)
{
	int lapsed = 0, made = 0;
	bool sound = true;

	for (int i = 0; i < RACES; i++) {
		pthread_t thread;
		uint64_t olds = 0;
		uint16_t both;

		set_selector(USPL_SELECTOR_OLD, USPL_COMMIT_NONE);
		stage->selector.turns = (uint32_t)(i % 40);
		pthread_create(&thread, NULL, call_until_new, &olds);
		while (!__atomic_load_n(&olds, __ATOMIC_SEQ_CST))
			sched_yield();
		__atomic_store_n(&stage->selector.value, USPL_SELECTOR_HOLD_OLD, __ATOMIC_SEQ_CST);
		for (volatile int j = 0; j < i % 50 * 40; j++)
			;
		__atomic_store_n(&stage->selector.commit, USPL_COMMIT_NEW, __ATOMIC_SEQ_CST);
		both = __atomic_load_n((uint16_t *)(void *)&stage->selector, __ATOMIC_SEQ_CST);
		if ((both & 0xff) == USPL_SELECTOR_OLD) {
			lapsed++;
			__atomic_store_n(&stage->selector.value, USPL_SELECTOR_NEW,
					 __ATOMIC_SEQ_CST);
		} else {
			made++;
		}
		pthread_join(thread, NULL);
		sound &= stage->selector.value == USPL_SELECTOR_NEW;
	}
	ok(sound, "what was decided in time stays so: %d times, and %d leases were over before",
	   made, lapsed);
}

static void test_depths(void)
{
	set_selector(USPL_SELECTOR_OLD, USPL_COMMIT_NONE);
	test_depth("to the old code");
	set_selector(USPL_SELECTOR_NEW, USPL_COMMIT_NONE);
	test_depth("to the new code");
	set_selector(USPL_SELECTOR_HOLD_OLD, USPL_COMMIT_NEW);
	test_depth("with a verdict");
	set_selector(USPL_SELECTOR_HOLD_NEW, USPL_COMMIT_NONE);
	stage->selector.turns = 3;
	test_depth("until its turns are over");
	set_selector(USPL_SELECTOR_HOLD_NEW, USPL_COMMIT_NONE);
	stage->selector.all_turns = 2;
	test_depth("until all turns are over");
	set_selector(USPL_SELECTOR_FOLLOW, USPL_COMMIT_NONE);
	stage->selector.leader = address(&stage->leader);
	stage->leader.value = USPL_SELECTOR_OLD;
	test_depth("by another word to the old code");
	stage->leader.value = USPL_SELECTOR_NEW;
	test_depth("by another word to the new code");
	set_drain(&stage->selector, USPL_SELECTOR_HOLD_OLD, 0, UINT64_MAX);
	test_depth("through a drain to the old code");
	set_drain(&stage->selector, USPL_SELECTOR_HOLD_NEW, 0, UINT64_MAX);
	test_depth("through a drain to the new code");
	set_drain(&stage->selector, USPL_SELECTOR_HOLD_OLD, 64, 65);
	stage->selector.turns = 3;
	test_depth("held by a drain");
}

int main(void)
{
	stage_open();
	for (int by_thread = 0; by_thread <= 1; by_thread++) {
		ok(encode(by_thread) == 0, "a trampoline%s",
		   by_thread ? " that knows BY_THREAD" : "");
		test_commits();
		test_drain();
		test_bounds();
		test_race();
		test_depths();
	}
	return tap_done();
}
