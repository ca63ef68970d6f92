// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a hundred thousand functions, half of them with room for a jump, in one NOP or in
// five, half with a usual prologue, and threads that call them all

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "serve.h"

#define FUNCTIONS 100000
#define THREADS 2

/* roomN and plainN, in turn; each answers its argument and 1. */
__asm__("	.text\n"
	"	.macro	begin name\n"
	"	.balign	16\n"
	"	.globl	\\name\n"
	"	.type	\\name, @function\n"
	"\\name:\n"
	"	.endm\n"
	"	.macro	pair n\n"
	"	begin	room\\n\n"
	"	.if	\\n & 1\n"
	"	.byte	0x90, 0x90, 0x90, 0x90, 0x90\n"
	"	.else\n"
	"	.byte	0x0f, 0x1f, 0x44, 0, 0\n"
	"	.endif\n"
	"	lea	1(%rdi), %rax\n"
	"	ret\n"
	"	.size	room\\n, . - room\\n\n"
	"	begin	plain\\n\n"
	"	push	%rbp\n"
	"	mov	%rsp, %rbp\n"
	"	pop	%rbp\n"
	"	lea	1(%rdi), %rax\n"
	"	ret\n"
	"	.size	plain\\n, . - plain\\n\n"
	"	.pushsection .data.rel.ro, \"aw\"\n"
	"	.quad	room\\n, plain\\n\n"
	"	.popsection\n"
	"	.endm\n"
	"	.section .data.rel.ro, \"aw\"\n"
	"	.globl	functions\n"
	"	.balign	8\n"
	"functions:\n"
	"	.text\n"
	"	.altmacro\n"
	"	.set	i, 0\n"
	"	.rept	50000\n"
	"	pair	%i\n"
	"	.set	i, i + 1\n"
	"	.endr\n"
	"	.noaltmacro\n");

extern long (*const functions[FUNCTIONS])(long n);

static pthread_t threads[THREADS];
static atomic_int running;
static atomic_long wrong, rounds[THREADS];

/* Calls each function once; how many answer as they should. */
static long call_all(long n)
{
	long right = 0;

	for (long i = 0; i < FUNCTIONS; i++)
		right += functions[i](n + i) == n + i + 1;
	return right;
}

static void *work(void *arg)
{
	atomic_long *mine = arg;

	while (running) {
		if (call_all(*mine) != FUNCTIONS)
			wrong++;
		++*mine;
	}
	return NULL;
}

/* Each of the threads begins and ends another round. */
static void await_rounds(void)
{
	for (int i = 0; i < THREADS; i++)
		for (long until = rounds[i] + 2; rounds[i] < until;)
			sched_yield();
}

static int begin_work(void)
{
	running = 1;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, &rounds[i]))
			return 0;
	await_rounds();
	return THREADS;
}

static long end_work(void)
{
	running = 0;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return wrong;
}

/* A child calls them all; 0 if they answer it as they should. */
static int fork_child(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(call_all(3) != FUNCTIONS);
	return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

void answer(const char *request, char *reply, size_t size)
{
	long result = -1;

	if (!strcmp(request, "all"))
		result = call_all(7);
	else if (!strcmp(request, "begin"))
		result = begin_work();
	else if (!strcmp(request, "rounds")) {
		await_rounds();
		result = wrong;
	} else if (!strcmp(request, "fork"))
		result = fork_child();
	else if (!strcmp(request, "end"))
		result = end_work();
	snprintf(reply, size, "%ld", result);
}
