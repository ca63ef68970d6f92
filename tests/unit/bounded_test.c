// SPDX-License-Identifier: GPL-3.0-or-later
// bounded_test.c - a user's code that has been made to end does what it did, and ends
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "arch/probe_code.h"
#include "tap.h"

#define ROOM 65536

/* Code as a user might hand it in; each with the names of where it begins and ends. */
#define CODE(name, text)                                                                           \
	extern const uint8_t name[], name##_end[];                                                 \
	__asm__(".pushsection .text." #name ", \"ax\"\n" #name ":\n" text "\n" #name               \
		"_end:\n.popsection\n")

CODE(endless, "1: jmp 1b");
CODE(endless_waiting, "1: pause; test %rdi, %rdi; jne 1b; ret");
CODE(endless_pair, "1: mov %rdi, %rax; jmp 3f; 2: mov %rax, %rdi; jmp 1b; 3: jmp 2b");
CODE(trap, "mov $1, %eax; ud2");
/* Everything that a callee has to keep is something else when it is cut short. */
CODE(spoiler, "push %rbx; push %rbp; push %r12; push %r13; push %r14;"
	      "mov $1, %ebx; mov $2, %ebp; mov $3, %r12d; mov $4, %r13d; mov $5, %r14d; std;"
	      "1: lea 1(%rbx), %rbx; jmp 1b");
CODE(rounds, "mov 24(%rdi), %rcx; 1: dec %rcx; jne 1b; mov $1, %eax; ret");
CODE(by_loop, "mov 24(%rdi), %rcx; xor %eax, %eax; 1: add $3, %eax; loop 1b; ret");
CODE(by_jrcxz, "mov 24(%rdi), %rcx; xor %eax, %eax; jmp 2f; 3: ret;"
	       "1: add $3, %eax; lea -1(%rcx), %rcx; 2: jrcxz 3b; jmp 1b");
/* The sum of two numbers of four words: the carry goes from one round to the next. */
CODE(by_carry, "lea 24(%rdi), %rsi; lea 56(%rdi), %rdx; mov $4, %ecx; clc;"
	       "1: mov (%rdx), %rax; adc %rax, (%rsi); lea 8(%rsi), %rsi; lea 8(%rdx), %rdx;"
	       "dec %ecx; jne 1b; sbb %eax, %eax; neg %eax; ret");
/* A leaf's own words below the stack pointer are its own, whatever counts. */
CODE(by_red_zone, "mov $7, %eax; mov %rax, -8(%rsp); mov $9, %ecx; clc;"
		  "1: adc $0, %r8d; dec %ecx; jne 1b; mov -8(%rsp), %rax; ret");
CODE(by_frame,
     "push %rbp; mov %rsp, %rbp; push %rbx; sub $24, %rsp; mov 24(%rdi), %rax;"
     "mov %rax, -24(%rbp); mov -24(%rbp), %rax; inc %rax; mov -8(%rbp), %rbx; leave; ret");
CODE(by_repeat, "mov 24(%rdi), %rcx; mov %rdi, %rdx; lea 32(%rdi), %rdi; mov $0x5a, %eax;"
		"rep stosb; mov 40(%rdx), %rax; ret");
CODE(by_search, "mov 24(%rdi), %rcx; lea 32(%rdi), %rdi; mov $0x33, %eax; repne scasb; sete %al;"
		"movzx %al, %eax; ret");
/* Each calls the next one twice: a million calls, no way back. */
#define TWICE(name, next) name ": call " next "; call " next "; ret;"
CODE(calls,
     TWICE("10", "11f") TWICE("11", "12f") TWICE("12", "13f") TWICE("13", "14f") TWICE("14", "15f")
	     TWICE("15", "16f") TWICE("16", "17f") TWICE("17", "18f") TWICE("18", "19f")
		     TWICE("19", "20f") TWICE("20", "21f") TWICE("21", "22f") TWICE("22", "23f")
			     TWICE("23", "24f") TWICE("24", "25f") TWICE("25", "26f")
				     TWICE("26", "27f") TWICE("27", "28f") TWICE("28", "29f") TWICE(
					     "29",
					     "30f") "30: nop; nop;"
						    "nop; nop; nop; nop; nop; nop; nop; nop; ret");

CODE(leave_nothing, "mov 24(%rdi), %rbp; leave; ret");
CODE(lost_frame, "push %rbp; mov %rsp, %rbp; mov %rdi, %rbp; leave; ret");
CODE(forged_return, "push %rdi; ret");
CODE(kept_rbp, "mov %rdi, %rbp; ret");
CODE(pushes, "1: push %rdi; jmp 1b");
CODE(unequal, "test %rdi, %rdi; je 1f; push %rdi; 1: pop %rax; ret");
CODE(half, "add $8, %esp; ret");
CODE(entered, "enter $16, $0; leave; ret");
CODE(other_stack, "mov %rdi, %rsp; ret");
CODE(popped_stack, "push %rdi; pop %rsp; ret");
CODE(runs_on, "mov $1, %eax");
CODE(of_flags, "pushfq; popfq; ret");
CODE(far_return, "lretq");
CODE(segment, "mov %fs, %eax; ret");
CODE(slow, "cpuid; ret");
CODE(return_more, "ret $8");

CODE(into_insn, "jmp 1f + 1; 1: mov $0x11050f, %eax; ret");
CODE(outside, "jmp 1f + 0x1000; 1: ret");
CODE(reads_code, "mov 1f(%rip), %eax; 1: ret");
CODE(all_registers,
     "push %rbp; mov %r15, %r14; mov %r13, %r12; mov %r11, %r10; mov %r9, %r8; mov %rbx, %rbp;"
     "pop %rbp; ret");

static uint8_t *room;
static uint64_t *counters;
static struct uspl_err *const err = &(struct uspl_err){ 0 };

struct hit {
	uint64_t head[3], args[12];
};

static struct hit hit;

/* Checks and copies code of functions that lie behind each other, `step` bytes each; 0: one. */
static int encode(const uint8_t *code, const uint8_t *end, size_t step)
{
	struct bounded_function functions[32];
	size_t len = (size_t)(end - code);
	struct bounded_program program = { .from = (taddr)(uintptr_t)code,
					   .code = code,
					   .len = len,
					   .functions = functions,
					   .to = (taddr)(uintptr_t)room,
					   .counters = (taddr)(uintptr_t)counters };
	auto_buf struct buf out = { 0 };
	uint64_t stack;
	int rc;

	step = step ? step : len;
	for (size_t at = 0; at < len; at += step) {
		functions[program.n_functions++] = (struct bounded_function){ at, step };
		rc = confined_check(code + at, step, &stack, err);
		if (rc)
			return rc;
	}
	rc = bounded_encode(&program, &out, err);
	if (rc)
		return rc;
	memset(room, 0xcc, ROOM);
	memcpy(room, out.data, out.len);
	counters[0] = counters[1] = 0;
	return 0;
}

/*
 * Calls code with an argument. Returns what it returns; or 1000, if a register that a callee keeps,
 * the stack pointer or the direction flag isn't what it was.
 */
unsigned call_and_compare(const uint8_t *code, struct hit *argument);
__asm__(".text\ncall_and_compare:\n"
	"push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
	"mov $0x11, %ebx; mov $0x12, %ebp; mov $0x14, %r12d; mov $0x18, %r13d\n"
	"mov $0x21, %r14d; mov $0x22, %r15d; mov %rdi, %rax; mov %rsi, %rdi\n"
	"mov %rsp, stack_before(%rip); call *%rax; mov %rsp, %rdx\n"
	"mov stack_before(%rip), %rsp\n"
	"sub %rsp, %rdx; add %rbx, %rdx; add %rbp, %rdx; add %r12, %rdx; add %r13, %rdx\n"
	"add %r14, %rdx; add %r15, %rdx; pushfq; pop %rcx; and $0x400, %ecx; add %rcx, %rdx\n"
	"cmp $0x92, %rdx; je 1f; mov $1000, %eax; cld\n"
	"1: pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx; ret\n"
	".bss\nstack_before: .quad 0\n.text\n");

#define ENCODE(name) encode(name, name##_end, 0)

static unsigned call(uint64_t arg)
{
	hit.args[0] = arg;
	return call_and_compare(room, &hit);
}

#define REFUSED(name, what)                                                                        \
	do {                                                                                       \
		int rc_ = ENCODE(name);                                                            \
                                                                                                   \
		ok(rc_ == -USPL_E_UNSUPPORTED && strstr(err->msg, what), "%s: %s", #name,          \
		   err->msg);                                                                      \
	} while (0)

static void test_endless(void)
{
	ok(!ENCODE(endless) && !call(0) && counters[0] == 1, "an endless loop ends");
	for (int i = 0; i < 200; i++)
		call(0);
	ok(counters[0] == 100 && counters[1] == 101, "after a hundred times it isn't begun again");
	ok(!ENCODE(endless_waiting) && !call(0) && counters[0] == 1, "one that waits");
	ok(!ENCODE(endless_pair) && !call(0) && counters[0] == 1, "one that goes here and there");
	ok(!encode(calls, calls_end, 11) && !call(0) && counters[0] == 1, "calls of calls");
	ok(!ENCODE(spoiler) && !call(0) && counters[0] == 1,
	   "what a callee has to keep is kept by one that is cut short");
	ok(!ENCODE(trap) && !call(0) && counters[0] == 1, "a trap ends the run");
}

static void test_same(void)
{
	ok(!ENCODE(rounds) && call(60000) == 1 && !counters[0], "a loop that ends");
	ok(call(70000) == 0 && counters[0] == 1, "and one that is too long");
	ok(!ENCODE(by_loop) && call(1000) == 3000 && !call(0) && counters[0] == 1, "loop");
	ok(!ENCODE(by_jrcxz) && call(1000) == 3000 && !call(0) && !counters[0], "jrcxz");
	hit.args[1] = hit.args[2] = UINT64_MAX;
	hit.args[3] = 5;
	hit.args[4] = 2;
	hit.args[5] = hit.args[6] = 0;
	hit.args[7] = 1;
	ok(!ENCODE(by_carry) && !call(UINT64_MAX) && hit.args[0] == 1 && !hit.args[1] &&
		   !hit.args[2] && hit.args[3] == 7,
	   "a flag that goes from round to round");
	ok(!ENCODE(by_red_zone) && call(0) == 7, "words below the stack pointer");
	ok(!ENCODE(by_frame) && call(41) == 42, "a frame pointer");
	memset(hit.args, 0, sizeof(hit.args));
	ok(!ENCODE(by_repeat) && call(9) == 0x5a && hit.args[1] == 0x5a5a5a5a5a5a5a5a,
	   "an instruction that repeats");
	ok(!call(UINT64_MAX) && counters[0] == 1 && !hit.args[11], "too often");
	ok(!call(8 * 65535) && counters[0] == 2 && !hit.args[11], "just too often");
	memset(hit.args, 0x33, sizeof(hit.args));
	ok(!ENCODE(by_search) && call(0x50) == 1 && !counters[0], "one that finds");
	memset(hit.args, 0, sizeof(hit.args));
	ok(call(0x50) == 0 && !counters[0], "and one that doesn't");
}

static void test_refused(void)
{
	const char *stack = "how much stack it takes can't be told";

	REFUSED(leave_nothing, stack);
	REFUSED(lost_frame, stack);
	REFUSED(forged_return, "returns to what can't be known");
	REFUSED(kept_rbp, "returns to what can't be known");
	REFUSED(pushes, stack);
	REFUSED(unequal, stack);
	REFUSED(half, stack);
	REFUSED(entered, stack);
	REFUSED(other_stack, stack);
	REFUSED(popped_stack, stack);
	REFUSED(of_flags, stack);
	REFUSED(runs_on, "runs on behind its end");
	REFUSED(far_return, "calls or jumps to what can't be known");
	REFUSED(return_more, "calls or jumps to what can't be known");
	REFUSED(segment, "other registers");
	REFUSED(slow, "may stop a virtual machine");
	REFUSED(into_insn, "into the middle of an instruction");
	REFUSED(outside, "into the middle of a function");
	REFUSED(reads_code, "refers to code as to data");
	REFUSED(all_registers, "it uses all registers");
}

int main(void)
{
	/* What lies in the room reaches its counters. */
	uint8_t *map = mmap(NULL, ROOM + PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return 1;
	room = map;
	counters = (uint64_t *)(map + ROOM);
	test_endless();
	test_same();
	test_refused();
	return tap_done();
}
