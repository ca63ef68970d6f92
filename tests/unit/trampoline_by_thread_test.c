// SPDX-License-Identifier: GPL-3.0-or-later
// trampoline_by_thread_test.c - where a trampoline leads while threads go over one by one

#include <pthread.h>
#include <sched.h>

#include "trampoline_stage.h"

enum {
	TO_OLD = USPL_SELECTOR_BY_THREAD + USPL_SELECTOR_OLD,
	TO_NEW = USPL_SELECTOR_BY_THREAD + USPL_SELECTOR_NEW,
	SECOND = USPL_SELECTOR_SECOND,
	HOLD = USPL_SELECTOR_HOLD,
	SAID = USPL_COMMIT_SAID,
};

/* What nothing in memory is: a slot of another thread comes first in each set. */
#define OTHER_THREAD 16

static struct uspl_slot *slots_of(struct uspl_selector *selector, bool second)
{
	return (struct uspl_slot *)(void *)((uint8_t *)selector + USPL_SLOTS_AT +
					    (second ? USPL_SLOTS_LEN : 0));
}

static uint64_t thread_pointer(void)
{
	uint64_t pointer;

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	return pointer;
}

/* This thread's slot in one set, and one that has all of the stack in the other. */
static void set_slot(struct uspl_selector *selector, bool second, uint64_t low, uint64_t high)
{
	for (int i = 0; i < 2; i++) {
		struct uspl_slot *slots = slots_of(selector, i);

		slots[0] = (struct uspl_slot){ OTHER_THREAD, 0, UINT64_MAX };
		slots[1] = (struct uspl_slot){ thread_pointer(), low, high };
		slots[2] = (struct uspl_slot){ 0 };
		if (i != second)
			slots[1] = slots[2];
	}
}

static bool is_cleared(struct uspl_selector *selector, bool second)
{
	return !slots_of(selector, second)[1].thread;
}

static void test_others(void)
{
	set_selector(TO_NEW, USPL_COMMIT_NONE);
	memset(slots_of(&stage->selector, false), 0, 2 * USPL_SLOTS_LEN);
	ok(call() == 2 && stage->selector.value == TO_NEW, "without slots all go to NEW");
	set_selector(TO_OLD, USPL_COMMIT_NONE);
	ok(call() == 1 && stage->selector.value == TO_OLD, "or to OLD");
	slots_of(&stage->selector, false)[0] = (struct uspl_slot){ OTHER_THREAD, 0, UINT64_MAX };
	ok(call() == 1, "another thread's slot is of no account");
	slots_of(&stage->selector, false)[1] = (struct uspl_slot){ 0, 0, 0 };
	slots_of(&stage->selector, false)[2] =
		(struct uspl_slot){ thread_pointer(), UINT64_MAX - 1, UINT64_MAX };
	ok(call() == 1, "nor is what lies behind the end");
}

static void test_slots(void)
{
	uint64_t here = stack_here();

	for (int second = 0; second <= 1; second++) {
		uint8_t set = second ? SECOND : 0;

		set_selector(TO_NEW | set, USPL_COMMIT_NONE);
		set_slot(&stage->selector, second, here + PAGE, here + 2 * PAGE);
		ok(call() == 1 && !is_cleared(&stage->selector, second),
		   "deeper than its call a thread stays in the old code, by set %d", second + 1);
		set_slot(&stage->selector, second, here - 2 * PAGE, here - PAGE);
		ok(call() == 1 && !is_cleared(&stage->selector, second) &&
			   slots_of(&stage->selector, second)[1].low == UINT64_MAX,
		   "and above the range, which is no range any more then");
		slots_of(&stage->selector, second)[1].high = here + PAGE;
		ok(call() == 1 && !is_cleared(&stage->selector, second),
		   "since it may come there in another call of the old code");
		set_slot(&stage->selector, !second, here + PAGE, here + 2 * PAGE);
		ok(call() == 2, "the other set is of no account");
		set_slot(&stage->selector, second, here - PAGE, here + PAGE);
		ok(call() == 2 && is_cleared(&stage->selector, second) &&
			   slots_of(&stage->selector, second)[0].thread == OTHER_THREAD,
		   "where it has left its call it clears its slot, and goes to the new code");
		set_selector(TO_OLD | set, USPL_COMMIT_NONE);
		set_slot(&stage->selector, second, here + PAGE, here + 2 * PAGE);
		ok(call() == 2 && !is_cleared(&stage->selector, second),
		   "on the way to OLD a thread stays in the new code");
		set_slot(&stage->selector, second, here - PAGE, here + PAGE);
		ok(call() == 1 && is_cleared(&stage->selector, second), "and leaves it");
	}
}

/* Exactly which stack pointers have left: low has, high hasn't. */
static void test_bounds(void)
{
	uint64_t at = 0;
	bool right = true;

	set_selector(TO_NEW, USPL_COMMIT_NONE);
	for (uint64_t sp = stack_here() - 512; sp < stack_here() + 64 && !at; sp += 8) {
		set_slot(&stage->selector, false, sp, sp + 1);
		if (call() == 2)
			at = sp;
	}
	set_slot(&stage->selector, false, at - 64, at);
	right &= call() == 1;
	set_slot(&stage->selector, false, at + 8, at + 64);
	right &= call() == 1;
	set_slot(&stage->selector, false, at, at + 8);
	right &= call() == 2;
	ok(at && right, "the range holds its low end and not its high one");
}

static void test_follow(void)
{
	uint64_t here = stack_here();

	set_selector(USPL_SELECTOR_FOLLOW, USPL_COMMIT_NONE);
	stage->selector.leader = address(&stage->leader);
	stage->leader = (struct uspl_selector){ .value = TO_NEW };
	set_slot(&stage->selector, false, here - PAGE, here + PAGE);
	set_slot(&stage->leader, false, here + PAGE, here + 2 * PAGE);
	ok(call() == 1, "a trampoline that follows goes by the slots of the selector that decides");
	set_slot(&stage->leader, false, here - PAGE, here + PAGE);
	ok(call() == 2 && is_cleared(&stage->leader, false) && !is_cleared(&stage->selector, false),
	   "and clears them");
}

/* A hold falls back to it, is decided to it, and from it. */
static void test_holds(void)
{
	uint64_t here = stack_here();

	set_slot(&stage->selector, false, here + PAGE, here + 2 * PAGE);
	set_selector(HOLD | TO_NEW, USPL_COMMIT_NONE);
	ok(call() == 1 && selector_is(&stage->selector, TO_NEW, USPL_COMMIT_NONE) &&
		   stage->selector.all_turns < 4100,
	   "a hold waits, and falls back to it");
	set_slot(&stage->selector, true, here + PAGE, here + 2 * PAGE);
	set_selector(HOLD | TO_NEW | SECOND, USPL_COMMIT_NONE);
	ok(call() == 1 && selector_is(&stage->selector, TO_NEW | SECOND, USPL_COMMIT_NONE),
	   "with its set");
	set_selector(USPL_SELECTOR_HOLD_OLD, SAID | TO_NEW | SECOND);
	ok(call() == 1 && selector_is(&stage->selector, TO_NEW | SECOND, USPL_COMMIT_NONE),
	   "a commit byte leads from OLD to it");
	set_selector(USPL_SELECTOR_HOLD_NEW, SAID | TO_OLD | SECOND);
	ok(call() == 2 && selector_is(&stage->selector, TO_OLD | SECOND, USPL_COMMIT_NONE),
	   "and from NEW");
	set_selector(HOLD | TO_NEW | SECOND, SAID | TO_OLD);
	set_slot(&stage->selector, false, here - PAGE, here + PAGE);
	ok(call() == 1 && selector_is(&stage->selector, TO_OLD, USPL_COMMIT_NONE) &&
		   is_cleared(&stage->selector, false),
	   "it can turn round");
	set_selector(HOLD | TO_NEW, USPL_COMMIT_NEW);
	ok(call() == 2 && selector_is(&stage->selector, USPL_SELECTOR_NEW, USPL_COMMIT_NONE),
	   "a commit byte ends it");
	set_selector(HOLD | TO_NEW | SECOND, USPL_COMMIT_OLD);
	ok(call() == 1 && selector_is(&stage->selector, USPL_SELECTOR_OLD, USPL_COMMIT_NONE),
	   "either way");
}

static int found_by_handler;

static void on_signal(int number)
{
	(void)number;
	found_by_handler = call();
}

/* A handler that interrupts a thread in its old call. */
static void test_signal_stack(void)
{
	static char room[64 * 1024];
	const stack_t signal_stack = { .ss_sp = room, .ss_size = sizeof(room) };
	const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	uint64_t here = stack_here();

	sigaltstack(&signal_stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	set_selector(TO_NEW, USPL_COMMIT_NONE);
	set_slot(&stage->selector, false, here - PAGE, here + PAGE);
	raise(SIGUSR1);
	ok(found_by_handler == 1 && !is_cleared(&stage->selector, false),
	   "a handler on a signal stack stays in the old code");
	ok(call() == 2, "and the thread leaves it later");
}

static void *call_until_new(void *olds)
{
	while (call() == 1)
		__atomic_add_fetch((uint64_t *)olds, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

/* Threads that come while it begins: none without a slot comes to the old code afterwards. */
static void test_begin(void)
{
	pthread_t threads[3];
	uint64_t olds = 0, before;

	memset(slots_of(&stage->selector, false), 0, 2 * USPL_SLOTS_LEN);
	set_selector(USPL_SELECTOR_OLD, USPL_COMMIT_NONE);
	stage->selector.turns = UINT32_MAX;
	stage->selector.all_turns = INT32_MAX;
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_create(&threads[i], NULL, call_until_new, &olds);
	while (__atomic_load_n(&olds, __ATOMIC_SEQ_CST) < 1000)
		sched_yield();
	__atomic_store_n(&stage->selector.value, USPL_SELECTOR_HOLD_OLD, __ATOMIC_SEQ_CST);
	__atomic_store_n(&stage->selector.commit, SAID | TO_NEW, __ATOMIC_SEQ_CST);
	before = __atomic_load_n(&olds, __ATOMIC_SEQ_CST);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	ok(olds <= before + ARRAY_SIZE(threads) && selector_is(&stage->selector, TO_NEW, 0),
	   "all that come go over at once");
}

static void test_depths(void)
{
	set_selector(TO_OLD, USPL_COMMIT_NONE);
	memset(slots_of(&stage->selector, false), 0, 2 * USPL_SLOTS_LEN);
	test_depth("without slots, to the old code");
	set_selector(TO_NEW | SECOND, USPL_COMMIT_NONE);
	test_depth("and to the new code");
	set_slot(&stage->selector, true, UINT64_MAX - 1, UINT64_MAX);
	test_depth("of a thread that stays in the old code");
	set_selector(TO_OLD | SECOND, USPL_COMMIT_NONE);
	test_depth("or in the new code");
	set_slot(&stage->selector, true, 0, 1);
	test_depth("that is on another stack");
	set_slot(&stage->selector, true, 0, UINT64_MAX);
	test_depth("that goes over");
	set_selector(HOLD | TO_OLD | SECOND, USPL_COMMIT_NONE);
	stage->selector.turns = 3;
	test_depth("that is held");
	set_selector(HOLD | TO_OLD, SAID | TO_NEW);
	test_depth("with a commit byte");
}

int main(void)
{
	stage_open();
	ok(encode(true) == 0, "a trampoline");
	test_others();
	test_slots();
	test_bounds();
	test_follow();
	test_holds();
	test_signal_stack();
	test_begin();
	test_depths();
	return tap_done();
}
