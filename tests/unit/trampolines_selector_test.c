// SPDX-License-Identifier: GPL-3.0-or-later
// trampolines_selector_test.c - which selector decides for trampolines is changed only while nobody
// can be going by another one

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "safety/stack.h"
#include "switch/trampolines.h"
#include "tests/unit/tap.h"

/*
 * What target and test share: the selector of a region, two selectors that may decide, and that the
 * target runs.
 */
static struct stage {
	struct uspl_selector own, one, other;
	volatile uint64_t turns;
	volatile bool outside; /* it is to leave what stands for the trampolines */
	volatile bool left;
} * stage;

/* The code that stands for a region's trampolines. */
extern const uint8_t trampolines_begin[], trampolines_end[];

static __attribute__((noinline)) void stay_in_trampolines(void)
{
	__asm__ volatile("trampolines_begin: incq (%0)\n"
			 "	cmpb $0, (%1)\n"
			 "	je trampolines_begin\n"
			 "trampolines_end:"
			 :
			 : "r"(&stage->turns), "r"(&stage->outside)
			 : "memory", "cc");
}

static pid_t start(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(100);
		stay_in_trampolines();
		stage->left = true;
		for (;;)
			poll(NULL, 0, -1);
	}
	while (!stage->turns)
		sched_yield();
	return pid;
}

static void leave_trampolines(void)
{
	stage->outside = true;
	while (!stage->left)
		sched_yield();
}

static taddr at(const void *place)
{
	return (uintptr_t)place;
}

/* What the target's own selector says: the value, and who decides. */
static void say(enum uspl_selector_value value, const struct uspl_selector *leader)
{
	stage->own.value = (uint8_t)value;
	stage->own.leader = leader ? at(leader) : 0;
}

static struct region region_of(const struct uspl_selector *selector, taddr self)
{
	return (struct region){ .self = self,
				.selector = at(selector),
				.trampolines = at(trampolines_begin),
				.trampolines_len =
					(uint64_t)(trampolines_end - trampolines_begin) };
}

static int lead(const struct proc *proc, struct unwinder *unwinder,
		const struct uspl_selector *selector)
{
	const struct region region = region_of(&stage->own, 1);
	struct uspl_err err = { 0 };

	return trampolines_set_leader(proc, &region, at(selector), unwinder, &err);
}

static bool is_led_by(const struct uspl_selector *selector)
{
	return stage->own.leader == at(selector);
}

static void test_set_while_inside(const struct proc *proc, struct unwinder *unwinder)
{
	say(USPL_SELECTOR_OLD, NULL);
	ok(lead(proc, unwinder, &stage->one) == 0 && is_led_by(&stage->one),
	   "the first word to decide is set, whatever is in the trampolines");
	ok(lead(proc, unwinder, &stage->one) == 0, "and set again");
	ok(lead(proc, unwinder, &stage->other) == -USPL_E_UNSUPPORTED && is_led_by(&stage->one),
	   "no other one while a thread is in the gates");
	say(USPL_SELECTOR_FOLLOW, &stage->one);
	ok(lead(proc, unwinder, &stage->one) == 0, "a word that follows stays as it is");
}

static void test_set_while_outside(const struct proc *proc, struct unwinder *unwinder)
{
	say(USPL_SELECTOR_FOLLOW, &stage->one);
	ok(lead(proc, unwinder, &stage->other) == -USPL_E_UNSUPPORTED && is_led_by(&stage->one),
	   "no other one while the word follows");
	say(USPL_SELECTOR_NEW, &stage->one);
	ok(lead(proc, unwinder, &stage->other) == 0 && is_led_by(&stage->other),
	   "another one once nobody is in the gates");
}

/* True if the region may go by the selector that is asked about. */
static bool goes_by(const struct proc *proc, const module_vec *modules,
		    const struct uspl_selector *asked, taddr self)
{
	struct region region = region_of(&stage->own, 1), leader = region_of(asked, self);
	region_vec regions = { .items = &region, .n = 1 };

	return trampolines_go_by(proc, modules, &regions, &leader);
}

static void test_go_by(const struct proc *proc, const module_vec *modules, bool inside)
{
	say(USPL_SELECTOR_OLD, &stage->one);
	ok(goes_by(proc, modules, &stage->one, 2) == inside, "%s",
	   inside ? "whoever is in the gates may read the word that decided last"
		  : "nobody reads it when all have left");
	ok(!goes_by(proc, modules, &stage->other, 2), "nobody reads a word that never decided");
	ok(!goes_by(proc, modules, &stage->one, 1), "a region's own gates don't count");
	say(USPL_SELECTOR_FOLLOW, &stage->one);
	ok(goes_by(proc, modules, &stage->one, 2), "a word that follows goes by it in any case");
}

/* A region whose selector can't be read, as of a library that is being unloaded. */
static void test_unreadable(const struct proc *proc, const module_vec *modules)
{
	struct region region = region_of(NULL, 1), leader = region_of(&stage->one, 2);
	region_vec regions = { .items = &region, .n = 1 };

	ok(trampolines_go_by(proc, modules, &regions, &leader),
	   "a word that can't be read may be one");
	leader.selector = 0;
	ok(!trampolines_go_by(proc, modules, &regions, &leader),
	   "without a word there is none to read");
}

static void test_all(const struct proc *proc, const module_vec *modules, struct unwinder *unwinder)
{
	test_set_while_inside(proc, unwinder);
	test_go_by(proc, modules, true);
	leave_trampolines();
	test_set_while_outside(proc, unwinder);
	test_go_by(proc, modules, false);
	test_unreadable(proc, modules);
}

int main(void)
{
	struct uspl_err err = { 0 };
	auto_proc struct proc *proc = NULL;
	auto_unwinder struct unwinder *unwinder = NULL;
	module_vec modules = { 0 };
	pid_t pid;
	int rc;

	stage = mmap(NULL, sizeof(*stage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (stage == MAP_FAILED)
		return 1;
	pid = start();
	rc = proc_open(pid, &proc, &err);
	if (!rc)
		rc = modules_read(proc, &modules, &err);
	if (!rc)
		rc = stack_unwinder_new(proc, &modules, &unwinder, &err);
	ok(rc == 0, "the target can be looked at %s", err.msg);
	if (!rc)
		test_all(proc, &modules, unwinder);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	unwinder_free(take_ptr(unwinder));
	modules_release(&modules);
	return tap_done();
}
