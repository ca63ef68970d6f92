// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a function with room for a jump, and a thread that stands in the midst of that room,
// in a signal handler

#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <unistd.h>

#include "serve.h"

#define JUMP_LEN 5
#define TRAP_FLAG 0x100

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

static atomic_int stands;
static int way_out[2];
static pthread_t thread;

KEPT long prepared(long n)
{
	return n + 1;
}

/*
 * After each instruction. The thread sleeps at the first one that lies where the rest of a jump
 * would be.
 */
static void on_step(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	char byte;

	(void)sig;
	(void)info;
	if ((uintptr_t)regs[REG_RIP] - (uintptr_t)prepared - 1 >= JUMP_LEN - 1)
		return;
	regs[REG_EFL] &= ~TRAP_FLAG;
	stands = 1;
	if (read(way_out[0], &byte, 1) != 1)
		abort();
}

/* prepared(n), instruction by instruction. */
static long call_stepped(long n)
{
	long result;

	__asm__ volatile("lea	-128(%%rsp), %%rsp\n\t"
			 "pushfq\n\t"
			 "orq	%2, (%%rsp)\n\t"
			 "popfq\n\t"
			 "call	prepared\n\t"
			 "pushfq\n\t"
			 "andq	%3, (%%rsp)\n\t"
			 "popfq\n\t"
			 "lea	128(%%rsp), %%rsp"
			 : "=a"(result), "+D"(n)
			 : "i"(TRAP_FLAG), "i"(~TRAP_FLAG)
			 : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "cc", "memory");
	return result;
}

static void *stand(void *arg)
{
	(void)arg;
	return (void *)call_stepped(41);
}

static int begin_to_stand(void)
{
	struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };

	if (pipe(way_out) || sigaction(SIGTRAP, &action, NULL) ||
	    pthread_create(&thread, NULL, stand, NULL))
		return -1;
	while (!stands)
		sched_yield();
	return stands;
}

/* What prepared has answered. */
static long end_to_stand(void)
{
	void *result = NULL;

	if (write(way_out[1], "", 1) != 1 || pthread_join(thread, &result))
		return -1;
	stands = 0;
	return (long)result;
}

/* From now on no code can be made writable; 1 if that is so. */
static int lock(void)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *code = (void *)((uintptr_t)prepared & ~(page - 1));

	prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0);
	return mprotect(code, page, PROT_READ | PROT_WRITE | PROT_EXEC) != 0;
}

/* In a child, which lives on. */
static int fork_child(void)
{
	int ends[2];
	long result = -1;
	pid_t pid = pipe(ends) ? -1 : fork();

	if (!pid) {
		result = prepared(1);
		if (write(ends[1], &result, sizeof(result)) == sizeof(result))
			pause();
		_exit(0);
	}
	return pid > 0 && read(ends[0], &result, sizeof(result)) == sizeof(result) && result == 2
		       ? pid
		       : -1;
}

static void show_bytes(char *reply, size_t size)
{
	for (size_t i = 0; i < JUMP_LEN; i++)
		snprintf(reply + 2 * i, size - 2 * i, "%02x", ((const uint8_t *)prepared)[i]);
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "bytes"))
		show_bytes(reply, size);
	else if (!strcmp(request, "stand"))
		snprintf(reply, size, "%d", begin_to_stand());
	else if (!strcmp(request, "lock"))
		snprintf(reply, size, "%d", lock());
	else if (!strcmp(request, "fork"))
		snprintf(reply, size, "%d", fork_child());
	else if (!strcmp(request, "leave"))
		snprintf(reply, size, "%ld", end_to_stand());
	else
		snprintf(reply, size, "%ld", prepared(atol(request)));
}
