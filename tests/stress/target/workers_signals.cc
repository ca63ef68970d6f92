// SPDX-License-Identifier: GPL-3.0-or-later
// workers_signals.cc - handlers on alternate stacks, and jumps out of functions

#include "stress.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static __thread volatile unsigned long ticks;

static void on_tick(int)
{
	int saved = errno;

	ticks++;
	expect_version("a handler", both());
	errno = saved;
}

/* A timer of this thread's own, 1000 times a second, whose handler has a stack of its own. */
static void start_timer(void)
{
	struct sigevent event = {};
	struct itimerspec often = { { 0, 1000000 }, { 0, 1000000 } };
	struct sigaction action = {};
	stack_t stack = {};
	timer_t timer;

	stack.ss_size = 65536;
	stack.ss_sp = malloc(stack.ss_size);
	sigaltstack(&stack, NULL);
	action.sa_handler = on_tick;
	action.sa_flags = SA_ONSTACK | SA_RESTART;
	sigaction(SIGRTMIN, &action, NULL);
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = SIGRTMIN;
	event.sigev_notify_thread_id = (int)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
	    timer_settime(timer, 0, &often, NULL) != 0)
		wrong("no timer");
}

static void run_timer(struct worker *self)
{
	unsigned long before = 0;

	start_timer();
	for (;;) {
		expect_version("under a timer", both());
		work_elsewhere();
		self->done += ticks != before;
		before = ticks;
	}
}

static void run_jumps(struct worker *self)
{
	sigjmp_buf env;

	for (;;) {
		/* The environment is set anew each time: it means a frame that is there. */
		int answer = sigsetjmp(env, 1);

		if (!answer)
			leaves(&env);
		expect_version("siglongjmp", answer);
		self->done = self->done + 1;
		nap_us(50);
	}
}

static void run_spinner(struct worker *self)
{
	for (;;) {
		expect_version("a spinner", both());
		work_elsewhere();
		self->done = self->done + 1;
	}
}

WORKERS(signal_workers) = { { "timer", run_timer, 0 },
			    { "jumps", run_jumps, 0 },
			    { "spinner", run_spinner, 0 },
			    {} };
