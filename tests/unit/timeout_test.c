// SPDX-License-Identifier: GPL-3.0-or-later
// timeout_test.c - is the register that held a system call's time-out used again?

#include "arch/syscall_timeout.h"

#include <string.h>
#include <sys/syscall.h>

#include "tap.h"

/* The arguments by their place in a system call. */
enum { ARG_RDX = 2, ARG_R10 = 3, ARG_R8 = 4 };

#define BASE 0x1000ull

struct sample {
	const char *what;
	uint8_t arg;
	const char *code;
	size_t len;
	bool dead;
};

#define CODE(bytes) (bytes), sizeof(bytes) - 1

static const struct sample samples[] = {
	{ "the function returns", ARG_R10, CODE("\xc3"), true },
	{ "the register is read", ARG_R10, CODE("\x4c\x89\xd0\xc3"), false },
	{ "its lower half is read", ARG_R10, CODE("\x44\x89\xd0\xc3"), false },
	{ "it is an address", ARG_R10, CODE("\x41\x8b\x02\xc3"), false },
	{ "it is an index", ARG_R10, CODE("\x42\x8b\x04\x17\xc3"), false },
	{ "it is written, then read", ARG_R10, CODE("\x49\x89\xc2\x4c\x89\xd0\xc3"), true },
	{ "its lower half is written", ARG_R10, CODE("\x41\x89\xc2\x4c\x89\xd0\xc3"), true },
	{ "a byte of it is written", ARG_R10, CODE("\x41\x88\xc2\x4c\x89\xd0\xc3"), false },
	{ "xor with itself", ARG_R10, CODE("\x45\x31\xd2\x4c\x89\xd0\xc3"), true },
	{ "a write under a condition", ARG_R10, CODE("\x4c\x0f\x44\xd0\xc3"), false },
	{ "read on one of two ways", ARG_R10, CODE("\x74\x01\xc3\x4c\x89\xd0\xc3"), false },
	{ "a loop that doesn't touch it", ARG_R10, CODE("\xff\xc8\x75\xfc\xc3"), true },
	{ "another system call", ARG_R10, CODE("\x0f\x05\xc3"), false },
	{ "a jump nobody knows where", ARG_R10, CODE("\xff\xe0"), false },
	{ "r10 is no argument of a call", ARG_R10, CODE("\xff\xd0\xc3"), true },
	{ "but may be kept across it", ARG_R10, CODE("\xff\xd0\x4c\x89\xd0\xc3"), false },
	{ "r8 may be an argument", ARG_R8, CODE("\xff\xd0\xc3"), false },
	{ "of a function that reads it", ARG_R8, CODE("\xe8\x01\x00\x00\x00\xc3\x4c\x89\xc0\xc3"),
	  false },
	{ "of one that doesn't", ARG_R8, CODE("\xe8\x01\x00\x00\x00\xc3\x90\xc3"), true },
	{ "what that writes doesn't count", ARG_R8,
	  CODE("\xe8\x04\x00\x00\x00\x4c\x89\xc0\xc3\x31\xc0\x45\x31\xc0\xc3"), false },
	{ "cqo writes rdx", ARG_RDX, CODE("\x48\x99\x48\x89\xd0\xc3"), true },
	{ "mul reads and writes", ARG_RDX, CODE("\x48\xf7\xe2\xc3"), false },
	{ "the code ends", ARG_R10, CODE("\x90"), false },
};

static size_t read_sample(void *ctx, taddr addr, void *buf, size_t len)
{
	const struct sample *sample = ctx;
	size_t at = addr < BASE ? sample->len : (size_t)(addr - BASE);
	size_t n = at < sample->len ? sample->len - at : 0;

	n = n < len ? n : len;
	memcpy(buf, sample->code + at, n);
	return n;
}

static void test_walk(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		const struct sample *sample = &samples[i];

		ok(syscall_arg_is_dead(sample->arg, BASE, read_sample, (void *)sample) ==
			   sample->dead,
		   "%s: %s", sample->what, sample->dead ? "dead" : "in use");
	}
}

static void test_interrupted(void)
{
	struct blocked_place place = {
		.nr = SYS_epoll_wait, .args = { 1, 2, 3, 4, 5, 6 }, .sp = 100, .pc = 200
	};
	struct arch_regs regs = { .user = { .rdi = 1,
					    .rsi = 2,
					    .rdx = 3,
					    .r10 = 4,
					    .r8 = 5,
					    .r9 = 6,
					    .rsp = 100,
					    .rip = 200,
					    .orig_rax = SYS_epoll_wait,
					    .rax = (unsigned long long)-4 } };

	ok(regs_are_interrupted_at(&regs, &place), "the same call");
	regs.user.rax = 0;
	ok(!regs_are_interrupted_at(&regs, &place), "it was over when it was stopped");
	regs.user.rax = (unsigned long long)-4;
	regs_set_syscall_arg(&regs, ARG_R10, 1);
	ok(regs.user.r10 == 1 && !regs_are_interrupted_at(&regs, &place), "another time-out");
}

int main(void)
{
	test_walk();
	test_interrupted();
	return tap_done();
}
