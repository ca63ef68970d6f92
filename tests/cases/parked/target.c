// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - leaves a function in its middle, on another stack

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "serve.h"

#define STACK_SIZE 65536

enum way { MAPPED, ALLOCATED, OWN_SWITCH, JUMP, MAIN_STACK };

KEPT const char *version(void);
KEPT void part(enum way way);
KEPT void deeper(enum way way);
KEPT void leave(enum way way);
KEPT void use_stack(int depth);

static ucontext_t home, coroutine;
static jmp_buf home_jump, coroutine_jump;
static void *home_sp, *coroutine_sp;
static char *stack;
static enum way way_now;
static bool finished;

/* The switch of a library of coroutines: pushes what a function keeps, and exchanges the stacks. */
__asm__(".text\n"
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
	".size own_switch, . - own_switch\n");
extern void own_switch(void **from, void *to);

const char *version(void)
{
	return "old";
}

/* Leaves the stack, to be gone on with later. */
void leave(enum way way)
{
	switch (way) {
	case MAPPED:
	case ALLOCATED:
		swapcontext(&coroutine, &home);
		break;
	case OWN_SWITCH:
		own_switch(&coroutine_sp, home_sp);
		break;
	case JUMP:
		if (!setjmp(coroutine_jump))
			longjmp(home_jump, 1);
		break;
	case MAIN_STACK:
		break;
	}
}

void deeper(enum way way)
{
	leave(way);
	__asm__ volatile("");
}

void part(enum way way)
{
	deeper(way);
	finished = !strcmp(version(), "old");
}

/* Leaves return addresses of the function below its stack pointer. */
void use_stack(int depth)
{
	char room[200];

	__asm__ volatile("" : : "r"(room) : "memory");
	if (depth)
		use_stack(depth - 1);
	__asm__ volatile("");
}

static void run(void)
{
	enum way way = way_now;

	use_stack(20);
	part(way);
	use_stack(20);
	/* The end, as of coroutines that wait for other work to do. */
	leave(way);
	abort();
}

static void make_stack(enum way way)
{
	stack = way == ALLOCATED ? malloc(STACK_SIZE)
				 : mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = STACK_SIZE;
	makecontext(&coroutine, run, 0);
}

static void begin(enum way way)
{
	void **sp;

	way_now = way;
	finished = false;
	make_stack(way);
	switch (way) {
	case OWN_SWITCH:
		sp = (void **)(stack + STACK_SIZE) - 2;
		*sp = (void *)run;
		coroutine_sp = sp - 6;
		own_switch(&home_sp, coroutine_sp);
		break;
	case JUMP:
		if (!setjmp(home_jump))
			setcontext(&coroutine);
		break;
	default:
		swapcontext(&home, &coroutine);
	}
}

static void end(enum way way)
{
	switch (way) {
	case OWN_SWITCH:
		own_switch(&home_sp, coroutine_sp);
		break;
	case JUMP:
		if (!setjmp(home_jump))
			longjmp(coroutine_jump, 1);
		break;
	default:
		swapcontext(&home, &coroutine);
	}
}

/* Serves on another stack, while the main one waits in part(). */
static void serve_aside(void)
{
	char line[LINE_SIZE];

	puts("aside");
	fflush(stdout);
	next_line(line);
	finished = true;
	setcontext(&home);
}

static void main_stack(void)
{
	way_now = MAIN_STACK;
	make_stack(MAPPED);
	makecontext(&coroutine, serve_aside, 0);
	swapcontext(&home, &coroutine);
}

KEPT void part_main(void);

void part_main(void)
{
	main_stack();
	finished = !strcmp(version(), "old");
}

static const char *const ways[] = { "mapped", "allocated", "own", "jump" };

void answer(const char *request, char *reply, size_t size)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(request, ways[i]))
			begin((enum way)i);
	if (!strcmp(request, "end"))
		end(way_now);
	else if (!strcmp(request, "main"))
		part_main();
	snprintf(reply, size, "%s %s", version(), finished ? "finished" : "parked");
}
