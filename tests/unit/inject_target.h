/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inject_target.h - a process that runs without a pause and watches its own registers, for tests of
 * what is done by it for a tool
 */
#ifndef USPL_TESTS_INJECT_TARGET_H
#define USPL_TESTS_INJECT_TARGET_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject/inject.h"

/* What the target and the test share. */
struct shared {
	volatile int ready, stop, wrong;
	volatile unsigned long rounds;
	volatile long slept_ns;
	volatile int sleep_result;
	volatile uint32_t word;               /* the agent waits for it */
	struct agent_result_page result_page; /* for threads that find back by themselves */
};

static struct shared *shared;

#define RESULT_PAGE (taddr)(uintptr_t) & shared->result_page

/* To be called first. */
static inline void share(void)
{
	sigset_t child;

	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
}

/* Keeps values in every vector register and in the mask, and looks whether they stay. */
static inline void spin(void)
{
	sigset_t set, now;
	stack_t alt = { .ss_sp = malloc(65536), .ss_size = 65536 }, alt_now;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_SETMASK, &set, NULL);
	sigaltstack(&alt, NULL);
	shared->ready = 1;
	while (!shared->stop) {
		double a = 1.5, b = 2.5;
		unsigned long word = 0x1122334455667788ul, back;

		__asm__ volatile("movq %3, %%xmm9\n movq %4, %%xmm14\n movq %5, %%xmm3\n"
				 "mov $2000, %%ecx\n 1: dec %%ecx\n jnz 1b\n"
				 "movq %%xmm9, %0\n movq %%xmm14, %1\n movq %%xmm3, %2\n"
				 : "=r"(a), "=r"(b), "=r"(back)
				 : "r"(1.5), "r"(2.5), "r"(word)
				 : "ecx", "xmm9", "xmm14", "xmm3");
		sigprocmask(SIG_SETMASK, NULL, &now);
		sigaltstack(NULL, &alt_now);
		if (a != 1.5 || b != 2.5 || back != word || !sigismember(&now, SIGUSR2) ||
		    sigismember(&now, SIGUSR1) || alt_now.ss_sp != alt.ss_sp)
			shared->wrong++;
		shared->rounds++;
	}
	_exit(shared->wrong ? 1 : 0);
}

/* -1 if it ends before it is ready. */
static inline pid_t start(void (*body)(void))
{
	pid_t pid;

	memset((void *)shared, 0, sizeof(*shared));
	pid = fork();
	if (!pid) {
		alarm(60);
		body();
	}
	while (!shared->ready) {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return -1;
		sched_yield();
	}
	return pid;
}

/* True once the target has gone round some more, within ten seconds. */
static inline bool goes_on(void)
{
	unsigned long from = shared->rounds;
	int64_t deadline = clock_now_ns() + 10000000000ll;

	while (shared->rounds < from + 100)
		if (clock_now_ns() > deadline)
			return false;
	return true;
}

static inline int finish(pid_t pid)
{
	int status = -1;

	shared->stop = 1;
	waitpid(pid, &status, 0);
	return status;
}

#endif
