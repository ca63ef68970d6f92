// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - threads that are unlike most, in a call that lasts until the test ends it

#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "serve.h"

#define THREADS_MAX 40
#define STACK 65536
#define OLD 1
#define NEW 10
#define RAW (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM)

/* What the call is to do, and how those that stay are to leave it. */
enum wish { PASS, STAY, PARK };
enum way { NONE, RETURN, JUMP, END };

KEPT int outer(enum wish wish);
KEPT int inner(void);
KEPT int other(void);

static pthread_t threads[THREADS_MAX];
static int n_threads;
static _Atomic(enum way) way;
static atomic_int holding, mixed, last;
static __thread sigjmp_buf away;
static ucontext_t home, parked;

/* Not by the C library: some of these threads have no thread pointer that it could do with. */
static void nap(void)
{
	const struct timespec time = { 0, 1000000 };
	long rc;

	__asm__ volatile("syscall"
			 : "=a"(rc)
			 : "0"((long)SYS_nanosleep), "D"(&time), "S"(0l)
			 : "rcx", "r11", "memory");
}

int inner(void)
{
	return 1;
}

/* 3 if all of it is old, 30 if all of it is new. */
int outer(enum wish wish)
{
	int sum = inner() + 1;

	if (wish == PARK)
		swapcontext(&parked, &home);
	if (wish == STAY) {
		holding++;
		while (!way)
			nap();
		holding--;
		if (way == JUMP)
			siglongjmp(away, 1);
		if (way == END)
			pthread_exit(NULL);
	}
	return sum + inner();
}

/* Of another update. */
int other(void)
{
	return 5;
}

static int call(enum wish wish)
{
	int sum = outer(wish);

	mixed += sum != 3 * OLD && sum != 3 * NEW;
	return sum / 3;
}

static void *stay(void *unused)
{
	(void)unused;
	if (!sigsetjmp(away, 0))
		call(STAY);
	last = call(PASS);
	return NULL;
}

static void *pass(void *unused)
{
	(void)unused;
	last = call(PASS);
	return NULL;
}

/* Further down than the call of a thread that had this stack before. */
static void *pass_deeper(void *unused)
{
	volatile char *room = alloca(8192);

	room[0] = 1;
	return pass(unused);
}

/* A call whose frame nothing describes. */
void *stay_lost(void *unused);
__asm__(".pushsection .text\n"
	".type stay_lost, @function\n"
	"stay_lost:\n"
	"	endbr64\n"
	"	sub $1032, %rsp\n"
	"	call stay_found\n"
	"	add $1032, %rsp\n"
	"	ret\n"
	".size stay_lost, . - stay_lost\n"
	".popsection");
KEPT void *stay_found(void *unused);
void *stay_found(void *unused)
{
	return stay(unused);
}

static void on_signal(int number)
{
	(void)number;
	call(STAY);
}

static void *stay_in_handler(void *unused)
{
	const stack_t signal_stack = { .ss_sp = malloc(STACK), .ss_size = STACK };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };

	sigaltstack(&signal_stack, NULL);
	sigaction(SIGUSR2, &action, NULL);
	pthread_kill(pthread_self(), SIGUSR2);
	return unused;
}

static void coroutine(void)
{
	last = call(PARK);
}

/* Leaves the stack on which the call is, and waits elsewhere. */
static void *park(void *unused)
{
	ucontext_t first;

	getcontext(&first);
	first.uc_stack.ss_sp = malloc(STACK);
	first.uc_stack.ss_size = STACK;
	first.uc_link = &home;
	makecontext(&first, coroutine, 0);
	swapcontext(&home, &first);
	holding++;
	while (!way)
		nap();
	holding--;
	swapcontext(&home, &parked);
	return unused;
}

static int stay_raw(void *unused)
{
	(void)unused;
	call(STAY);
	return 0;
}

/* A thread that the C library knows nothing of: with its maker's thread pointer, or with that. */
static void start_raw(int flags, void *pointer)
{
	char *stack = malloc(STACK);

	clone(stay_raw, stack + STACK, RAW | flags, NULL, NULL, pointer, NULL);
}

static void start(void *(*run)(void *), int n)
{
	while (n--)
		pthread_create(&threads[n_threads++], NULL, run, NULL);
}

static void await_holding(int n)
{
	while (holding != n)
		nap();
}

void answer(const char *request, char *reply, size_t size)
{
	static uint64_t block[512];
	int n = 0, held = holding;

	way = NONE;
	if (sscanf(request, "stay %d", &n) == 1) {
		start(stay, n);
		await_holding(held + n);
	} else if (!strcmp(request, "shared")) {
		start_raw(0, NULL);
		await_holding(held + 1);
	} else if (!strcmp(request, "other")) {
		block[0] = 1;
		start_raw(CLONE_SETTLS, block);
		await_holding(held + 1);
	} else if (!strcmp(request, "none")) {
		start_raw(CLONE_SETTLS, NULL);
		await_holding(held + 1);
	} else if (!strcmp(request, "lost")) {
		start(stay_lost, 1);
		await_holding(held + 1);
	} else if (!strcmp(request, "handler")) {
		start(stay_in_handler, 1);
		await_holding(held + 1);
	} else if (!strcmp(request, "park")) {
		start(park, 1);
		await_holding(held + 1);
	} else if (!strcmp(request, "born") || !strcmp(request, "deeper")) {
		start(*request == 'b' ? pass : pass_deeper, 1);
		pthread_join(threads[--n_threads], NULL);
		snprintf(reply, size, "%d, %d mixed", last, mixed);
		return;
	} else if (!strcmp(request, "one")) {
		/* One of many: the first that sees it. */
		n = held - 1;
		way = RETURN;
		while (holding > n)
			;
		way = NONE;
	} else if (!strcmp(request, "other code")) {
		snprintf(reply, size, "%d", other());
		return;
	} else if (!strcmp(request, "exec")) {
		execl("/bin/sleep", "sleep", "60", NULL);
	} else if (strcmp(request, "which")) {
		way = !strcmp(request, "jump") ? JUMP : !strcmp(request, "end") ? END : RETURN;
		await_holding(0);
		while (n_threads)
			pthread_join(threads[--n_threads], NULL);
		snprintf(reply, size, "%d, %d mixed", last, mixed);
		return;
	}
	snprintf(reply, size, "%d, %d mixed", call(PASS), mixed);
}
