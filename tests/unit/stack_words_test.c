// SPDX-License-Identifier: GPL-3.0-or-later
// stack_words_test.c - where an unwind is lost, the words of a stack count up to the stack's end
//
// Each thread here stands in code that nothing is known of. Its stack may lie in one mapping with
// others, behind guard regions (as glibc 2.42 has them), or in a mapping that is newer than those
// that the tool knows.

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "safety/safety.h"
#include "tap.h"

#define STACK (16 * PAGE)
#define CODE 0x7000
#define BUSY (CODE + 0x10)
#define NOWHERE 0x10
#define TIME_MS 20000

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

/* What parent and child tell each other. */
struct shared {
	uint64_t stacks; /* two, side by side, each with a guard region at its lower end */
	uint64_t later;  /* a stack that is mapped when the parent asks for it */
};

static volatile struct shared *shared;
static int ask[2], answer[2];

static char *map_stack(size_t len)
{
	return mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void run_child(void)
{
	char *stacks = map_stack(2 * STACK), c;
	uint64_t busy = BUSY;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* A kernel before 6.13 refuses it, and has no such regions. */
	for (size_t i = 0; i < 2; i++)
		madvise(stacks + i * STACK, PAGE, MADV_GUARD_INSTALL);
	/* In the upper one a call is open. */
	memcpy(stacks + 2 * STACK - 64, &busy, sizeof(busy));
	shared->stacks = (uint64_t)(uintptr_t)stacks;
	(void)!write(answer[1], "", 1);
	(void)!read(ask[0], &c, 1);
	/* So that it isn't one mapping with others. */
	map_stack(PAGE);
	stacks = map_stack(3 * STACK);
	mprotect(stacks, STACK, PROT_NONE);
	mprotect(stacks + 2 * STACK, STACK, PROT_NONE);
	memcpy(stacks + 2 * STACK - 64, &busy, sizeof(busy));
	shared->later = (uint64_t)(uintptr_t)stacks + STACK;
	(void)!write(answer[1], "", 1);
	for (;;)
		pause();
}

static bool await_child(void)
{
	struct pollfd news = { .fd = answer[0], .events = POLLIN };
	char c;

	return poll(&news, 1, TIME_MS) == 1 && read(answer[0], &c, 1) == 1;
}

/* A thread that sleeps there. */
static bool is_free(struct safety *safety, taddr sp, struct safety_finding *ret)
{
	struct blocked_thread thread = {
		.class = BLOCKED_SLEEPS,
		.regs = { .value = { [DWARF_SP] = sp, [DWARF_PC] = NOWHERE },
			  .known = 1u << DWARF_SP | 1u << DWARF_PC },
	};

	return safety_check_blocked(safety, &thread, ret);
}

static void test_stacks(struct safety *safety)
{
	taddr lower = shared->stacks + STACK - 512, upper = shared->stacks + 2 * STACK - 512;
	struct safety_finding finding;

	ok(is_free(safety, lower, &finding), "the words end where the next stack's guard begins");
	ok(!finding.unreadable, "and the stack counts as one that was read");
	ok(!is_free(safety, upper, &finding) && finding.function && !finding.unreadable,
	   "a call on the stack itself is found");
}

static void test_later(struct safety *safety)
{
	struct safety_finding finding;

	ok(write(ask[1], "", 1) == 1 && await_child(), "another stack is mapped");
	ok(!is_free(safety, shared->later + STACK - 512, &finding) && finding.function &&
		   !finding.unreadable,
	   "a call on a stack that is newer than the known mappings is found");
	ok(is_free(safety, shared->later + STACK - 32, &finding) && !finding.unreadable,
	   "above it the stack is free");
	ok(!is_free(safety, shared->later - 512, &finding) && finding.unreadable,
	   "what can't be read isn't taken for a stack");
	ok(!is_free(safety, NOWHERE, &finding) && finding.unreadable, "nor is what isn't there");
}

int main(void)
{
	auto_proc struct proc *proc = NULL;
	struct safety safety = { 0 };
	module_vec none = { 0 };
	pid_t pid;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (pipe(ask) || pipe(answer))
		return 1;
	pid = fork();
	if (!pid)
		run_child();
	ok(await_child() && proc_open_readonly(pid, &proc, NULL) == 0, "a process with two stacks");
	safety.proc = proc;
	if (proc && unwinder_new(proc, &none, &safety.unwinder, NULL) == 0 &&
	    safety_add(&safety, "busy", CODE, 0x100, false, NULL) == 0) {
		test_stacks(&safety);
		test_later(&safety);
	}
	safety_release(&safety);
	unwinder_free(safety.unwinder);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return tap_done();
}
