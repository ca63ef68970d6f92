// SPDX-License-Identifier: GPL-3.0-or-later
// workers_stacks.cc - exceptions, and coroutines that leave their stacks and come back to them

#include "stress.h"

#include <stdlib.h>
#include <ucontext.h>

#define STACK 65536

static void run_exceptions(struct worker *self)
{
	for (int depth = 0;; depth = (depth + 1) % 8) {
		try {
			throws(depth);
			wrong("no exception");
		} catch (int answer) {
			expect_version("an exception", answer);
		}
		self->done = self->done + 1;
		nap_us(50);
	}
}

static thread_local ucontext_t home, away;
static thread_local int answers[2], turn;

/* Leaves its stack between the calls, never within one. */
static void coroutine(void)
{
	for (;;) {
		answers[turn] = both();
		swapcontext(&away, &home);
	}
}

static void run_coroutines(struct worker *self)
{
	getcontext(&away);
	away.uc_stack.ss_sp = malloc(STACK);
	away.uc_stack.ss_size = STACK;
	away.uc_link = NULL;
	makecontext(&away, coroutine, 0);
	for (;;) {
		for (turn = 0; turn < 2; turn++)
			swapcontext(&home, &away);
		expect_version("a coroutine", answers[0]);
		expect_version("a coroutine", answers[1]);
		self->done = self->done + 1;
		nap_us(50);
	}
}

/* A frame of setjmp's stays on another stack while that one is left and come back to by setcontext. */
static void run_contexts(struct worker *self)
{
	for (;;) {
		ucontext_t here;
		volatile int passes = 0;

		getcontext(&here);
		expect_version("setcontext", both());
		if (passes++ < 3)
			setcontext(&here);
		self->done = self->done + 1;
		nap_us(100);
	}
}

WORKERS(stack_workers) = { { "exceptions", run_exceptions, 0 },
			   { "coroutines", run_coroutines, 0 },
			   { "contexts", run_contexts, 0 },
			   {} };
