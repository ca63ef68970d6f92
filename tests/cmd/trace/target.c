// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - calls of all kinds, each as often as it is asked to, so that a trace can be counted

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "serve.h"

#define THREADS 8

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

long leaf(long x), middle(long x), outer(long x), fib(long n);
long frames(int depth), odd(void);
void jumper(int depth), switcher(int n), on_alarm(int sig);

#ifdef GO
/* What Go's linker puts into a program's data. */
__attribute__((aligned(16), used)) static char mark[] = "\xff Go buildinf:";
#endif

static volatile long sink;

KEPT long leaf(long x)
{
	sink += x;
	return x + 1;
}

KEPT long middle(long x)
{
	return leaf(x) + leaf(x + 1) + leaf(x + 2) - 3 * x;
}

KEPT long outer(long x)
{
	long sum = middle(x);

	return sum + leaf(0);
}

KEPT long fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static jmp_buf way_out;
static volatile int jump = 1;

KEPT void jumper(int depth)
{
	if (depth)
		jumper(depth - 1);
	else if (jump)
		longjmp(way_out, 1);
	sink++;
}

static ucontext_t main_context, other_context;
static char stack[128 << 10];

KEPT void switcher(int n)
{
	for (int i = 0; i < n; i++)
		swapcontext(&other_context, &main_context);
}

static void coroutine(void)
{
	switcher(20);
}

static void make_coroutine(void)
{
	getcontext(&other_context);
	other_context.uc_stack.ss_sp = stack;
	other_context.uc_stack.ss_size = sizeof(stack);
	other_context.uc_link = &main_context;
	makecontext(&other_context, coroutine, 0);
}

static long run_coroutine(void)
{
	long sum = 0;

	make_coroutine();
	for (int i = 0; i < 21; i++) {
		swapcontext(&main_context, &other_context);
		sum += outer(i);
	}
	/* Nobody will go back to it, and so that shows. */
	memset(&other_context, 0, sizeof(other_context));
	memset(stack, 0, sizeof(stack));
	return sum;
}

/* How many return addresses into itself, or what stands right behind it, backtrace() finds. */
KEPT long frames(int depth)
{
	void *found[64];
	long n = 0;

	if (depth) {
		n = frames(depth - 1);
	} else {
		for (int i = backtrace(found, 64); i--;)
			n += (size_t)((char *)found[i] - (char *)frames) < 256;
	}
	sink++;
	return n;
}

/* What looks at its callers, and what returns twice. */
KEPT long odd(void)
{
	volatile long sum = frames(9);
	int status = 0;
	pid_t pid;

	if (!setjmp(way_out))
		jumper(3);
	sum += 1000;
	pid = vfork();
	if (!pid)
		_exit(7);
	waitpid(pid, &status, 0);
	return sum + 10000 * WEXITSTATUS(status);
}

/* Leaves a coroutine in the middle of a call, or goes on with it to the end. */
static long park(void)
{
	make_coroutine();
	swapcontext(&main_context, &other_context);
	return 1;
}

static long unpark(void)
{
	for (int i = 0; i < 20; i++)
		swapcontext(&main_context, &other_context);
	return 2;
}

static volatile sig_atomic_t alarms;

KEPT void on_alarm(int sig)
{
	(void)sig;
	leaf(1);
	alarms++;
}

/* Until so many signals have come, in traced code; the handler makes traced calls, too. */
static long storm(long n)
{
	struct sigaction act = { .sa_handler = on_alarm };
	struct itimerval every = { { 0, 100 }, { 0, 100 } }, never = { { 0, 0 }, { 0, 0 } };

	alarms = 0;
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	while (alarms < n)
		fib(10);
	setitimer(ITIMER_REAL, &never, NULL);
	return alarms;
}

static long work(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += outer(i);
	return sum;
}

static void *work_in_thread(void *arg)
{
	*(long *)arg = work(*(long *)arg);
	return NULL;
}

static long work_in_threads(long n)
{
	pthread_t threads[THREADS];
	long values[THREADS], sum = 0;

	for (int i = 0; i < THREADS; i++) {
		values[i] = n;
		pthread_create(&threads[i], NULL, work_in_thread, &values[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += values[i];
	}
	return sum;
}

static long work_in_child(long n)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(work(n) == n * 7 ? 7 : 1);
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

/*
 * A child that maps memory of its own, where there was memory that it didn't get, and stays until
 * it is asked for. Returns its pid.
 */
static long linger(void)
{
	sigset_t end, old;
	pid_t pid;
	int sig;

	sigemptyset(&end);
	sigaddset(&end, SIGUSR1);
	sigprocmask(SIG_BLOCK, &end, &old);
	pid = fork();
	if (!pid) {
		char *own[32];
		int wrong = 0;

		for (int i = 0; i < 32; i++) {
			own[i] = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
			own[i][0] = 5;
		}
		sigwait(&end, &sig);
		for (int i = 0; i < 32; i++)
			wrong += own[i][0] != 5;
		_exit(wrong || work(1) != 7 ? 1 : 7);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	return pid;
}

static long ask_child(long pid)
{
	int status = 0;

	kill((pid_t)pid, SIGUSR1);
	waitpid((pid_t)pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Its call returns into the bytes that a jump at the entry would take. */
long through(long (*function)(void));
__asm__(".pushsection .text\n.globl through\n.type through, @function\n"
	"through: push %rbx\n call *%rdi\n pop %rbx\n ret\n .size through, . - through\n"
	".balign 16\n.popsection\n");

/*
 * Makes a system call in its fourth byte: who waits there goes back to that byte when the call is
 * interrupted.
 */
long ask_kernel(long number);
__asm__(".pushsection .text\n.globl ask_kernel\n.type ask_kernel, @function\n"
	"ask_kernel: mov %rdi, %rax\n syscall\n ret\n .size ask_kernel, . - ask_kernel\n"
	".balign 16\n.popsection\n");

static void *rest(void *tid)
{
	*(volatile pid_t *)tid = gettid();
	for (;;)
		ask_kernel(SYS_pause);
	return NULL;
}

/* A thread that waits there; 1 when it does. */
static long begin_rest(void)
{
	static volatile pid_t tid;
	pthread_t thread;
	char path[64], where[16] = "";

	if (pthread_create(&thread, NULL, rest, (void *)(uintptr_t)&tid) != 0)
		return 0;
	while (atoi(where) != SYS_pause) {
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", (int)tid);
		file = fopen(path, "r");
		if (file && !fgets(where, sizeof(where), file))
			where[0] = '\0';
		if (file)
			fclose(file);
	}
	return 1;
}

static long seven(void)
{
	return 7;
}

static long jump_out(long n)
{
	for (volatile long i = 0; i < n; i++)
		if (!setjmp(way_out))
			jumper(10);
	return n;
}

/* Forbids itself code that is writable, where the kernel can (Linux 6.3); 1 if it is forbidden. */
static long confine(void)
{
	long page = sysconf(_SC_PAGESIZE);
	void *code =
		mmap(NULL, (size_t)page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0);
	return code != MAP_FAILED &&
	       mprotect(code, (size_t)page, PROT_READ | PROT_WRITE | PROT_EXEC) != 0;
}

void answer(const char *request, char *reply, size_t size)
{
	char line[LINE_SIZE];
	long n = 0;

	sscanf(request, "%*s %ld", &n);
	if (!strncmp(request, "work ", 5))
		n = work(n);
	else if (!strncmp(request, "threads ", 8))
		n = work_in_threads(n);
	else if (!strncmp(request, "child ", 6))
		n = work_in_child(n);
	else if (!strncmp(request, "linger", 6))
		n = linger();
	else if (!strncmp(request, "end ", 4))
		n = ask_child(n);
	else if (!strncmp(request, "through", 7))
		n = through(seven);
	else if (!strncmp(request, "rest", 4))
		n = begin_rest();
	else if (!strncmp(request, "jump ", 5))
		n = jump_out(n);
	else if (!strncmp(request, "coroutine", 9))
		n = run_coroutine();
	else if (!strncmp(request, "odd", 3))
		n = odd();
	else if (!strncmp(request, "park", 4))
		n = park();
	else if (!strncmp(request, "unpark", 6))
		n = unpark();
	else if (!strncmp(request, "storm ", 6))
		n = storm(n) >= n;
	else if (!strncmp(request, "confine", 7))
		n = confine();
	else if (!strncmp(request, "wait", 4))
		next_line(line);
	snprintf(reply, size, "%ld", n);
}
