// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - answers some system calls itself, and greets

#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <unistd.h>

#include "serve.h"

#define SET_DISPATCH 59
#define NO_SUCH_CALL 5000

static volatile char selector;

void greet(char *reply, size_t size);

KEPT void greet(char *reply, size_t size)
{
	snprintf(reply, size, "hello, %s", "world");
}

static void answer_call(int sig, siginfo_t *info, void *ucontext)
{
	ucontext_t *uc = ucontext;

	(void)sig;
	(void)info;
	uc->uc_mcontext.gregs[REG_RAX] = 42;
}

/* The code of the object that read() is in: its calls go to the kernel. */
static int find_code(struct dl_phdr_info *info, size_t size, void *ret)
{
	uintptr_t wanted = (uintptr_t)read, *range = ret;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (wanted - start < info->dlpi_phdr[i].p_memsz) {
			range[0] = start;
			range[1] = info->dlpi_phdr[i].p_memsz;
			return 1;
		}
	}
	return 0;
}

static const char *dispatch(void)
{
	const struct sigaction action = { .sa_sigaction = answer_call, .sa_flags = SA_SIGINFO };
	uintptr_t range[2];

	if (!dl_iterate_phdr(find_code, range) || sigaction(SIGSYS, &action, NULL) ||
	    prctl(SET_DISPATCH, 1, range[0], range[1], &selector))
		return "no";
	selector = 1;
	return "on";
}

static long own_call(void)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(NO_SUCH_CALL) : "rcx", "r11", "memory");
	return result;
}

static void *sleep_on(void *unused)
{
	for (;;)
		pause();
	return unused;
}

void answer(const char *request, char *reply, size_t size)
{
	pthread_t thread;

	if (!strcmp(request, "dispatch"))
		snprintf(reply, size, "%s", dispatch());
	else if (!strcmp(request, "own"))
		snprintf(reply, size, "%ld", own_call());
	else if (!strcmp(request, "thread"))
		snprintf(reply, size, "%d", pthread_create(&thread, NULL, sleep_on, NULL));
	else
		greet(reply, size);
}
