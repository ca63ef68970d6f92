/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trampoline_stage.h - a trampoline between two functions, its selector, and another one */
#ifndef USPL_TESTS_TRAMPOLINE_STAGE_H
#define USPL_TESTS_TRAMPOLINE_STAGE_H

#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/trampoline.h"
#include "near_code.h"
#include "tap.h"
#include "uspl/abi.h"

CODE(stage_old, "mov $1, %eax");
CODE(stage_new, "mov $2, %eax");

/* What is mapped within reach of this program's code. */
static struct stage {
	_Alignas(4096) uint8_t code[PAGE];
	union {
		_Alignas(4096) struct uspl_selector selector;
		uint8_t page[USPL_SELECTOR_LEN_BY_THREAD];
	};
	union {
		struct uspl_selector leader;
		uint8_t other_page[USPL_SELECTOR_LEN_BY_THREAD];
	};
} * stage;

/* The trampoline knows BY_THREAD. */
static bool stage_by_thread;

/* Maps the stage, or ends the test. */
static inline void stage_open(void)
{
	stage = map_near(stage_old, sizeof(*stage));
	if (!stage)
		tap_skip_all("no memory near the code");
}

static inline int encode(bool by_thread)
{
	const struct trampoline_code trampoline = { .at = address(stage->code),
						    .selector = address(&stage->selector),
						    .entry = address(stage_old),
						    .new_addr = address(stage_new),
						    .old = stage_old,
						    .old_len = TRAMPOLINE_OLD_MAX,
						    .by_thread = by_thread };

	stage_by_thread = by_thread;
	return trampoline_encode(&trampoline, stage->code, NULL);
}

static inline void set_selector(uint8_t value, uint8_t commit)
{
	stage->selector = (struct uspl_selector){ .value = value,
						  .commit = commit,
						  .turns = 1000,
						  .all_turns = 5000,
						  .leader = address(&stage->selector) };
}

/* 1: by the old code; 2: by the new one. */
static inline int call(void)
{
	return ((int (*)(void))(uintptr_t)stage->code)();
}

static inline bool selector_is(const struct uspl_selector *selector, uint8_t value, uint8_t commit)
{
	return selector->value == value && selector->commit == commit;
}

/* The stack pointer at the entry of what is called from here is within some bytes of this. */
static inline uint64_t stack_here(void)
{
	return (uint64_t)(uintptr_t)__builtin_frame_address(0);
}

/*
 * Steps through one call of the trampoline in a child; true if trampoline_depth is right at each
 * instruction.
 */
static inline bool depth_is_right(size_t *ret_steps)
{
	struct user_regs_struct regs = { 0 };
	uint64_t top = 0;
	bool right = true;
	int status;
	pid_t pid = fork();

	*ret_steps = 0;
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(call() != 1 && call() != 2);
	}
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		size_t offset;
		int depth;

		ptrace(PTRACE_GETREGS, pid, 0, &regs);
		ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
		offset = regs.rip - address(stage->code);
		if (offset >= trampoline_len(stage_by_thread))
			continue;
		if (!offset)
			top = regs.rsp;
		depth = stage_by_thread ? trampoline_depth_by_thread(offset)
					: trampoline_depth(offset);
		/* Behind the moved instruction it isn't known. */
		right &= depth < 0 ? regs.rsp == top : regs.rsp == top - (uint64_t)depth;
		++*ret_steps;
	}
	return right && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static inline void test_depth(const char *what)
{
	size_t steps;
	bool right = depth_is_right(&steps);

	ok(right && steps > 2, "the stack pointer in a trampoline, %s: %zu steps", what, steps);
}

#endif
