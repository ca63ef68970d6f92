// SPDX-License-Identifier: GPL-3.0-or-later
// context_test.c - program counters that C libraries leave in memory are known for what they are

#include <setjmp.h>
#include <sys/auxv.h>
#include <ucontext.h>

#include "arch/context.h"
#include "tap.h"

/* Where the words of a buffer mean an address within [start, end). */
static size_t find(const void *words, size_t len, const struct context_query *query)
{
	return context_find(query, words, len / 8, 0);
}

static uint64_t pointer_guard(void)
{
	uint64_t guard;

	memcpy(&guard, (const char *)getauxval(AT_RANDOM) + sizeof(guard), sizeof(guard));
	return guard;
}

/* The query for whatever is near a function. */
static struct context_query near(const void *function)
{
	taddr at = (taddr)(uintptr_t)function;

	return (struct context_query){
		.start = at, .end = at + 4096, .guard = pointer_guard(), .mangled = true
	};
}

static bool on_this_stack(taddr sp)
{
	taddr here = (taddr)(uintptr_t)__builtin_frame_address(0);

	return sp > here - 4096 && sp < here + 4096;
}

static __attribute__((noinline)) void test_setjmp(void)
{
	struct context_query query = near(test_setjmp);
	uint64_t words[sizeof(jmp_buf) / 8];
	size_t pc, n = ARRAY_SIZE(words);
	jmp_buf buf;

	setjmp(buf);
	memcpy(words, buf, sizeof(words));
	pc = find(words, sizeof(words), &query);
	ok(pc < n, "setjmp: the program counter is found");
	if (pc == n)
		return;
	ok(words[pc] < query.start || words[pc] >= query.end, "setjmp: it is mangled");
	ok(on_this_stack(context_demangle(words[(int)pc + CONTEXT_SP], query.guard)),
	   "setjmp: the stack pointer is beside it");
	query.mangled = false;
	ok(find(words, sizeof(words), &query) == n, "setjmp: not found without the guard");
}

static __attribute__((noinline)) void test_getcontext(void)
{
	struct context_query query = near(test_getcontext);
	uint64_t words[sizeof(ucontext_t) / 8];
	size_t pc, n = ARRAY_SIZE(words);
	ucontext_t context;

	memset(&context, 0, sizeof(context));
	getcontext(&context);
	memcpy(words, &context, sizeof(words));
	pc = find(words, sizeof(words), &query);
	ok(pc < n, "getcontext: the program counter is found");
	if (pc == n)
		return;
	ok(context_find(&query, words, n, pc + 1) == n, "getcontext: and nothing else");
	ok(on_this_stack(words[(int)pc + CONTEXT_SP]),
	   "getcontext: the stack pointer is beside it");
	ok(words[(int)pc + CONTEXT_FP] == (uint64_t)context.uc_mcontext.gregs[REG_RBP],
	   "getcontext: the frame pointer has its place");
}

static void test_calls(void)
{
	static const struct {
		const char *what;
		uint8_t bytes[CONTEXT_CALL_MAX];
		bool is_call;
	} cases[] = {
		{ "call near", { 0x90, 0x90, 0x90, 0xe8, 0x10, 0x20, 0x30, 0x00 }, true },
		{ "call *%rax", { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0 }, true },
		{ "call *8(%rbx)", { 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x53, 0x08 }, true },
		{ "call *slot(%rip)", { 0x90, 0x90, 0xff, 0x15, 0x00, 0x10, 0x00, 0x00 }, true },
		{ "nops", { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90 }, false },
		{ "jmp *%rax", { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xe0 }, false },
		{ "ret", { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x5b, 0xc3 }, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ok(context_ends_call(cases[i].bytes, CONTEXT_CALL_MAX) == cases[i].is_call,
		   "%s is %sa call", cases[i].what, cases[i].is_call ? "" : "not ");
	ok(!context_ends_call(cases[0].bytes, 0), "nothing is no call");
	ok(context_return_slot(0x1000) == 0xff8, "a return address lies below the stack pointer");
}

static void nothing(void)
{
}

/* What a function that was begun by makecontext returns to. */
static void test_base(void)
{
	static char stack[4096];
	ucontext_t context;
	const uint8_t *base;

	getcontext(&context);
	context.uc_stack.ss_sp = stack;
	context.uc_stack.ss_size = sizeof(stack);
	context.uc_link = NULL;
	makecontext(&context, nothing, 0);
	memcpy(&base, (const void *)context.uc_mcontext.gregs[REG_RSP], sizeof(base));
	ok(context_is_base(base, CONTEXT_BASE_LEN), "makecontext: where its stacks begin is known");
	ok(!context_is_base(base, CONTEXT_BASE_LEN - 1), "makecontext: not by a part of the code");
	ok(!context_is_base(base + 1, CONTEXT_BASE_LEN), "makecontext: nor by the code behind it");
}

int main(void)
{
	test_base();
	test_setjmp();
	test_getcontext();
	test_calls();
	return tap_done();
}
