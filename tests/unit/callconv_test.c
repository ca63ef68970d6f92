// SPDX-License-Identifier: GPL-3.0-or-later
// callconv_test.c - arguments are where the compiler puts them: calls of a function that only notes
// its registers
#include <stdint.h>

#include "arch/arch.h"
#include "tests/unit/tap.h"
#include "uspl/listen_abi.h"

#define STACK_WORDS 16

/* What a function is entered with. */
struct {
	uint64_t general[6], xmm[8], stack[STACK_WORDS];
} noted;

void note(void);
/* Called as functions of many types. */
static void (*volatile entry)(void) = note;

__asm__(".text\n"
	".globl note\n"
	"note:\n"
	"	lea	noted(%rip), %rax\n"
	"	mov	%rdi, (%rax)\n"
	"	mov	%rsi, 8(%rax)\n"
	"	mov	%rdx, 16(%rax)\n"
	"	mov	%rcx, 24(%rax)\n"
	"	mov	%r8, 32(%rax)\n"
	"	mov	%r9, 40(%rax)\n"
	"	movq	%xmm0, 48(%rax)\n"
	"	movq	%xmm1, 56(%rax)\n"
	"	movq	%xmm2, 64(%rax)\n"
	"	movq	%xmm3, 72(%rax)\n"
	"	movq	%xmm4, 80(%rax)\n"
	"	movq	%xmm5, 88(%rax)\n"
	"	movq	%xmm6, 96(%rax)\n"
	"	movq	%xmm7, 104(%rax)\n"
	"	xor	%ecx, %ecx\n"
	"1:	mov	8(%rsp,%rcx,8), %rdx\n"
	"	mov	%rdx, 112(%rax,%rcx,8)\n"
	"	inc	%ecx\n"
	"	cmp	$16, %ecx\n"
	"	jb	1b\n"
	"	mov	(%rax), %rax\n"
	"	ret\n");

static const struct call_type word = { 8, 8, 1, 0, false };
static const struct call_type small = { 4, 4, 1, 0, false };
static const struct call_type real = { 8, 8, 0, 1, false };
static const struct call_type single = { 4, 4, 0, 1, false };
static const struct call_type whole_pair = { 16, 8, 3, 0, false };
static const struct call_type mixed_pair = { 16, 8, 1, 2, false };
static const struct call_type real_first = { 16, 8, 2, 1, false };
static const struct call_type triple = { 24, 8, 7, 0, false };
static const struct call_type wide = { 16, 16, 3, 0, false };
static const struct call_type long_double = { 16, 16, 0, 0, true };

struct whole_pair {
	long a, b;
};
struct mixed_pair {
	long a;
	double b;
};
struct real_first {
	double a;
	long b;
};
struct triple {
	long a, b, c;
};
/* (Of an __int128 on the stack clang before 18 has its own idea.) */
struct wide {
	_Alignas(16) long a;
	long b;
};

/* The 8 bytes at a place, of the last call. */
static uint64_t at(const struct call_place *place)
{
	switch (place->from) {
	case USPL_LISTEN_REG:
		return noted.general[place->index];
	case USPL_LISTEN_XMM:
		return noted.xmm[place->index];
	default:
		return noted.stack[place->index];
	}
}

static bool is_real(const struct call_place *place, double value)
{
	uint64_t bits = at(place);

	return !memcmp(&bits, &value, sizeof(bits));
}

static void test_registers(void)
{
	const struct call_type args[] = { word, real, small, single, word, real };
	struct call_place places[6];
	uint64_t bits;
	float f;

	((void (*)(long, double, int, float, void *, double))entry)(11, 2.5, 33, 4.5f, &noted, 6.5);
	arch_native()->call_places(NULL, args, 6, places);
	bits = at(&places[3]);
	memcpy(&f, &bits, sizeof(f));
	ok(at(&places[0]) == 11 && (uint32_t)at(&places[2]) == 33 &&
		   at(&places[4]) == (uint64_t)(uintptr_t)&noted,
	   "whole numbers and pointers");
	ok(is_real(&places[1], 2.5) && f == 4.5f && is_real(&places[5], 6.5), "real numbers");
}

static void test_stack(void)
{
	struct call_type args[20];
	struct call_place places[20];
	bool whole = true, reals = true;

	for (size_t i = 0; i < 20; i++)
		args[i] = i < 10 ? word : real;
	((void (*)(long, long, long, long, long, long, long, long, long, long, double, double,
		   double, double, double, double, double, double, double, double))entry)(
		1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5);
	arch_native()->call_places(NULL, args, 20, places);
	for (size_t i = 0; i < 10; i++) {
		whole &= at(&places[i]) == i + 1;
		reals &= is_real(&places[10 + i], (double)i + 1.5);
	}
	ok(whole, "more whole numbers than there are registers");
	ok(reals, "and more real ones");
}

static void test_structures(void)
{
	const struct call_type args[] = { whole_pair, mixed_pair, real_first, triple, word };
	const struct call_type late[] = { word, word, word, word, word, whole_pair, word };
	struct call_place places[7];

	((void (*)(struct whole_pair, struct mixed_pair, struct real_first, struct triple,
		   long))entry)((struct whole_pair){ 1, 2 }, (struct mixed_pair){ 3, 4.5 },
				(struct real_first){ 5.5, 6 }, (struct triple){ 7, 8, 9 }, 10);
	arch_native()->call_places(NULL, args, 5, places);
	ok(at(&places[0]) == 1 && at(&places[1]) == 3 && is_real(&places[2], 5.5),
	   "structures of 16 bytes begin in registers");
	ok(at(&places[3]) == 7, "a larger one is on the stack");
	ok(at(&places[4]) == 10, "and takes no register from what follows");

	((void (*)(long, long, long, long, long, struct whole_pair, long))entry)(
		1, 2, 3, 4, 5, (struct whole_pair){ 6, 7 }, 8);
	arch_native()->call_places(NULL, late, 7, places);
	ok(at(&places[5]) == 6, "one for which there is one register only is on the stack");
	ok(at(&places[6]) == 8, "and what follows gets that register");
}

static void test_alignment(void)
{
	const struct call_type args[] = { word, word, word, word, word, word, word, wide, word };
	const struct call_type more[] = { triple, long_double, word };
	struct call_place places[9];
	long double value = 1.25L;
	uint64_t low;

	((void (*)(long, long, long, long, long, long, long, struct wide, long))entry)(
		1, 2, 3, 4, 5, 6, 7, (struct wide){ 8, 0 }, 9);
	arch_native()->call_places(NULL, args, 9, places);
	ok(at(&places[6]) == 7 && at(&places[7]) == 8 && at(&places[8]) == 9,
	   "16 bytes that are to be aligned leave a word of the stack out");
	((void (*)(struct triple, long double, long))entry)((struct triple){ 1, 2, 3 }, value, 4);
	arch_native()->call_places(NULL, more, 3, places);
	memcpy(&low, &value, sizeof(low));
	ok(at(&places[1]) == low && at(&places[2]) == 4, "a long double is on the stack");
}

static void test_results(void)
{
	const struct call_type args[] = { word, word };
	struct call_place places[2];

	((struct triple(*)(long, long))entry)(21, 22);
	arch_native()->call_places(&triple, args, 2, places);
	ok(at(&places[0]) == 21 && at(&places[1]) == 22,
	   "the address of a result in memory comes before the arguments");
	((struct whole_pair(*)(long, long))entry)(23, 24);
	arch_native()->call_places(&whole_pair, args, 2, places);
	ok(at(&places[0]) == 23 && at(&places[1]) == 24, "of another one there is none");
	ok(arch_native()->call_result(&word).from == USPL_LISTEN_REG &&
		   arch_native()->call_result(&word).index == USPL_LISTEN_RAX &&
		   arch_native()->call_result(&real).from == USPL_LISTEN_XMM &&
		   arch_native()->call_result(&real).index == 0,
	   "where results are");
}

/* DWARF's numbers: System V ABI for x86-64, figure 3.36. */
static void test_dwarf(void)
{
	static const unsigned arguments[] = { 5, 4, 1, 2, 8, 9 };
	bool all = true;

	for (unsigned i = 0; i < 6; i++) {
		struct call_place place = arch_native()->call_register(arguments[i]);

		all &= place.from == USPL_LISTEN_REG && place.index == i;
	}
	ok(all, "rdi, rsi, rdx, rcx, r8, r9 by DWARF's numbers");
	ok(arch_native()->call_register(17).from == USPL_LISTEN_XMM &&
		   arch_native()->call_register(24).index == 7,
	   "xmm0 and xmm7");
	ok(arch_native()->call_register(3).from == USPL_LISTEN_NOWHERE &&
		   arch_native()->call_register(25).from == USPL_LISTEN_NOWHERE &&
		   arch_native()->call_register(1000).from == USPL_LISTEN_NOWHERE,
	   "others are nowhere");
}

int main(void)
{
	test_registers();
	test_stack();
	test_structures();
	test_alignment();
	test_results();
	test_dwarf();
	return tap_done();
}
