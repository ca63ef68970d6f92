// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - stacks that are left in the middle of calls, to be gone on with or for good

#include <coroutine>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

extern "C" {
#include "serve.h"

void run(void), yield(void), jumper(int depth), leaver(int depth), hide(void (*call)(void));
int deep(int n), step(int n);
void own_switch(void **from, void *to);
}

static const size_t SIZE = 96 << 10;

enum way { MAPPED, HEAP, OWN, JUMP, HIDDEN };

static way now;
static ucontext_t home, other;
static jmp_buf home_jump, other_jump, out;
static void *home_sp, *other_sp;
static char *stack;
static volatile int sink;
static int result;

/*
 * The switch of a library of coroutines: pushes what a function keeps, and exchanges the stacks. And a function that calls
 * another one, of which nothing says where its caller's registers are.
 */
asm(".text\n"
    ".type own_switch, @function\n"
    "own_switch:\n"
    "	push %rbp\n"
    "	push %rbx\n"
    "	push %r12\n"
    "	push %r13\n"
    "	push %r14\n"
    "	push %r15\n"
    "	mov %rsp, (%rdi)\n"
    "	mov %rsi, %rsp\n"
    "	pop %r15\n"
    "	pop %r14\n"
    "	pop %r13\n"
    "	pop %r12\n"
    "	pop %rbx\n"
    "	pop %rbp\n"
    "	ret\n"
    ".size own_switch, . - own_switch\n"
    ".type hide, @function\n"
    "hide:\n"
    "	sub $88, %rsp\n"
    "	call *%rdi\n"
    "	add $88, %rsp\n"
    "	ret\n"
    ".size hide, . - hide\n");

/* Leaves the stack, to be gone on with later. Its last call may be its end. */
extern "C" KEPT void yield(void)
{
	if (now == OWN)
		own_switch(&other_sp, home_sp);
	else if (now == JUMP && !setjmp(other_jump))
		longjmp(home_jump, 1);
	else if (now != JUMP)
		swapcontext(&other, &home);
}

extern "C" KEPT int deep(int n)
{
	int below = 0;

	if (n)
		below = deep(n - 1);
	else if (now == HIDDEN)
		hide(yield);
	else
		yield();
	sink++;
	return below + 1;
}

extern "C" KEPT void jumper(int depth)
{
	if (!depth)
		longjmp(out, 1);
	jumper(depth - 1);
	sink++;
}

/* The first call on the stack. After its work it is left for good, as a coroutine whose end is seen by somebody else. */
extern "C" KEPT void run(void)
{
	if (!setjmp(out))
		jumper(5);
	result = deep(5);
	yield();
	abort();
}

extern "C" KEPT void leaver(int depth)
{
	if (!depth)
		pthread_exit(nullptr);
	leaver(depth - 1);
	sink++;
}

static void *in_thread(void *arg)
{
	leaver(5);
	return arg;
}

static void make_stack()
{
	void **sp;

	if (now == HEAP)
		stack = static_cast<char *>(malloc(SIZE));
	else
		stack = static_cast<char *>(mmap(nullptr, SIZE, PROT_READ | PROT_WRITE,
						 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	getcontext(&other);
	other.uc_stack.ss_sp = stack;
	other.uc_stack.ss_size = SIZE;
	makecontext(&other, run, 0);
	sp = reinterpret_cast<void **>(stack + SIZE) - 2;
	*sp = reinterpret_cast<void *>(run);
	other_sp = sp - 6;
}

static void go(bool first)
{
	if (now == OWN)
		own_switch(&home_sp, other_sp);
	else if (now == JUMP && first && !setjmp(home_jump))
		setcontext(&other);
	else if (now == JUMP && !first && !setjmp(home_jump))
		longjmp(other_jump, 1);
	else if (now != JUMP)
		swapcontext(&home, &other);
}

struct generator {
	struct promise_type {
		int value;
		generator get_return_object()
		{
			return { std::coroutine_handle<promise_type>::from_promise(*this) };
		}
		std::suspend_always initial_suspend() noexcept { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(int n) noexcept
		{
			value = n;
			return {};
		}
		void return_void() {}
		void unhandled_exception() { abort(); }
	};
	std::coroutine_handle<promise_type> handle;
};

/* Not to be optimised into its caller: its frame lies in the heap. */
extern "C" KEPT int step(int n)
{
	sink++;
	return n + 1;
}

static generator count()
{
	for (int i = 0;; i = step(i))
		co_yield i;
}

static std::coroutine_handle<generator::promise_type> counter;

static int counted()
{
	if (!counter)
		counter = count().handle;
	for (int i = 0; i < 3; i++)
		counter.resume();
	return counter.promise().value;
}

extern "C" void answer(const char *request, char *reply, size_t size)
{
	static const char *const ways[] = { "mapped", "heap", "own", "jump", "hidden" };
	pthread_t thread;

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (!std::strcmp(request, ways[i])) {
			now = static_cast<way>(i);
			result = 0;
			make_stack();
			go(true);
		}
	if (!std::strcmp(request, "go"))
		go(false);
	else if (!std::strcmp(request, "free"))
		free(stack);
	else if (!std::strcmp(request, "again"))
		std::memset(stack, 0, SIZE);
	else if (!std::strcmp(request, "counter"))
		result = counted();
	else if (!std::strcmp(request, "thread") &&
		 !pthread_create(&thread, nullptr, in_thread, nullptr))
		pthread_join(thread, nullptr);
	std::snprintf(reply, size, "%d", result);
}
