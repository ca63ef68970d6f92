// SPDX-License-Identifier: GPL-3.0-or-later
// stack_room_test.c - threads on small stacks, amid a program's data, work for a tool and nothing
// of that data changes

#include <errno.h>
#include <ucontext.h>

#include "inject/stack_room.h"
#include "inject_target.h"
#include "tap.h"

#define SMALL 2048
#define AROUND 16384
#define FULL (64 * 1024)
#define ROUNDS 20

/* A coroutine's stack with data around it, which the test sees while the target runs. */
struct amid {
	uint8_t below[AROUND];
	uint8_t stack[SMALL];
	uint8_t above[AROUND];
	volatile int tid;
};

static struct amid *amid;

/* Calls nothing: there is hardly any stack. */
static void on_small_stack(void)
{
	shared->ready = 1;
	while (!shared->stop)
		shared->rounds++;
	syscall(SYS_exit_group, 0);
}

/*
 * The kernel makes the main thread's stack as large as was needed once. A child's has been used by
 * the tests before it, to its end perhaps.
 */
static __attribute__((noinline)) void enlarge_stack(void)
{
	uint8_t far[64 * 4096];

	far[0] = 0;
	__asm__ volatile("" : : "r"(far) : "memory");
}

static void switch_over(void)
{
	static ucontext_t own, small;

	enlarge_stack();
	amid->tid = (int)syscall(SYS_gettid);
	getcontext(&small);
	small.uc_stack.ss_sp = amid->stack;
	small.uc_stack.ss_size = sizeof(amid->stack);
	makecontext(&small, on_small_stack, 0);
	swapcontext(&own, &small);
}

static void *switch_in_thread(void *unused)
{
	switch_over();
	return unused;
}

/* The main thread has ended, so that the other one is asked. */
static void run_thread(void *(*body)(void *), size_t size)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, size);
	pthread_create(&thread, &attr, body, NULL);
	syscall(SYS_exit, 0);
}

static void thread_on_small_stack(void)
{
	run_thread(switch_in_thread, 512 * 1024);
}

static void locked_on_small_stack(void)
{
	mlockall(MCL_CURRENT | MCL_FUTURE);
	switch_over();
}

/* All of the stack has been used once, and its upper part is in use. */
static void *use_it_all(void *unused)
{
	volatile uint8_t *from = __builtin_frame_address(0);
	volatile uint8_t mine[4096];

	for (size_t i = 0; i < FULL - 12288; i++)
		from[-(ptrdiff_t)i - 256] = 0xa5;
	for (size_t i = 0; i < sizeof(mine); i++)
		mine[i] = (uint8_t)i;
	amid->tid = (int)syscall(SYS_gettid);
	shared->ready = 1;
	while (!shared->stop) {
		for (size_t i = 0; i < sizeof(mine); i++)
			shared->wrong += mine[i] != (uint8_t)i;
		shared->rounds++;
	}
	syscall(SYS_exit_group, shared->wrong ? 1 : 0);
	return unused;
}

static void thread_on_full_stack(void)
{
	run_thread(use_it_all, FULL);
}

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

/*
 * The same with a guard region at the stack's lower end, within its mapping, as glibc 2.42 has it:
 * this one is made by hand, above another glibc's own.
 */
static void *use_all_above_guard(void *unused)
{
	pthread_attr_t attr;
	void *low;
	size_t size;

	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &low, &size);
	/* A kernel before 6.13 refuses it, and has no such regions. */
	madvise(low, 4096, MADV_GUARD_INSTALL);
	return use_it_all(unused);
}

static void thread_above_guard(void)
{
	run_thread(use_all_above_guard, FULL);
}

static void *given_stack;

static void thread_on_given_stack(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	given_stack = calloc(1, FULL + 4096);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, (void *)(((uintptr_t)given_stack + 63) & ~63ul), FULL);
	pthread_create(&thread, &attr, use_it_all, NULL);
	syscall(SYS_exit, 0);
}

/* In the middle of memory that the program hasn't written to yet. */
static uint8_t *fresh;

static void *run_amid_fresh(void *unused)
{
	unsigned char pages[FULL / 4096];

	shared->ready = 1;
	while (!shared->stop)
		shared->rounds++;
	/*
	 * What a tool writes there it clears again, but the pages are there from then on. The first
	 * one of a mapping is looked at by each tool: a record of an update may be there.
	 */
	shared->wrong += mincore(fresh, FULL, pages) != 0;
	for (size_t i = 1; i < sizeof(pages); i++)
		shared->wrong += pages[i] & 1;
	syscall(SYS_exit_group, shared->wrong ? 1 : 0);
	return unused;
}

static void thread_amid_fresh(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	fresh = mmap(NULL, 3 * FULL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* The stack has no page that wasn't written to. */
	memset(fresh + FULL, 0xa5, FULL);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, fresh + FULL, FULL);
	pthread_create(&thread, &attr, run_amid_fresh, NULL);
	syscall(SYS_exit, 0);
}

static bool is_all(const uint8_t *bytes, size_t n, uint8_t value)
{
	for (size_t i = 0; i < n; i++)
		if (bytes[i] != value)
			return false;
	return true;
}

/*
 * Asks a thread again and again: with a result page of its own, so that it is let go with its work,
 * and without.
 */
static void test_work(const char *what, void (*body)(void), bool calls)
{
	struct inject_req call = { .kind = INJECT_SYSCALL, .what = SYS_getpid };
	struct inject_req function = { .kind = INJECT_CALL, .what = (uintptr_t)getpid };
	struct inject_choice choice = { 0 };
	auto_proc struct proc *proc = NULL;
	struct uspl_err err = { 0 };
	size_t done = 0;
	bool good;
	pid_t pid;

	memset(amid->below, 0xc3, sizeof(amid->below));
	memset(amid->above, 0xc3, sizeof(amid->above));
	pid = start(body);
	good = proc_open(pid, &proc, &err) == 0;
	for (int i = 0; good && i < ROUNDS; i++) {
		choice.result_page = i % 2 ? RESULT_PAGE : 0;
		good = inject_run_in(proc, &choice, &call, 1, &done, &err) == 0 &&
		       call.result == pid;
	}
	ok(good, "%s makes system calls (%s)", what, err.msg);
	if (calls)
		ok(good && inject_run(proc, &function, 1, &done, &err) == 0 &&
			   function.result == pid,
		   "%s calls a function (%s)", what, err.msg);
	ok(goes_on() && finish(pid) == 0, "%s goes on", what);
	ok(is_all(amid->below, sizeof(amid->below), 0xc3), "nothing below the small stack changed");
	ok(is_all(amid->above, sizeof(amid->above), 0xc3), "nor above it");
}

/* A processor may have far more registers to keep than this one (AMX: 8 KB). */
static void test_large_state(void)
{
	pid_t pid = start(thread_on_small_stack);
	auto_proc struct proc *proc = NULL;
	struct uspl_err err = { 0 };
	struct thread thread = { .tid = amid->tid };
	taddr top = 0, none = 0;
	uint8_t *bytes = calloc(1, 20000);
	int rc = proc_open(pid, &proc, &err);

	if (!rc)
		rc = thread_stop(proc, &thread, clock_now_ns() + STOP_LIMIT_NS, &err);
	if (!rc)
		rc = thread_read_regs(proc, &thread, &err);
	ok(rc == 0 && stack_room_find(proc, &thread, 20000, &top), "there is room for 20 KB (%s)",
	   err.msg);
	ok(proc_read_some(proc, top - 20000, bytes, 20000) == 20000 && is_all(bytes, 20000, 0),
	   "where nothing is");
	ok(!stack_room_find(proc, &thread, 100000000, &none) && !none, "and none for 100 MB");
	thread_release(proc, &thread);
	ok(goes_on() && finish(pid) == 0, "the thread goes on");
	free(bytes);
}

/* One that the C library hasn't made: nothing tells where its stack is. */
static int on_unknown_stack(void *unused)
{
	(void)unused;
	on_small_stack();
	return 0;
}

static void cloned(void)
{
	clone(on_unknown_stack, amid->stack + SMALL,
	      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
		      CLONE_SETTLS,
	      NULL, NULL, amid->above, NULL);
	syscall(SYS_exit, 0);
}

static void test_unknown(void)
{
	struct inject_req req = { .kind = INJECT_SYSCALL, .what = SYS_getpid };
	auto_proc struct proc *proc = NULL;
	struct uspl_err err = { 0 };
	size_t done = 0;
	pid_t pid;

	memset(amid->below, 0xc3, sizeof(amid->below));
	pid = start(cloned);
	ok(proc_open(pid, &proc, &err) == 0 &&
		   inject_run(proc, &req, 1, &done, &err) == -USPL_E_UNSTOPPABLE,
	   "a thread whose stack isn't known isn't asked");
	ok(strstr(err.msg, "has no room of its own"), "and the message says why: %s", err.msg);
	ok(is_all(amid->below, sizeof(amid->below), 0xc3), "nothing below its stack changed");
	ok(goes_on() && finish(pid) == 0, "it goes on");
}

/*
 * In a container thread ids are small: in front of a pointer one looks like the lower end of a
 * stack that ends there.
 */
static void test_small_tid(void)
{
	struct inject_req call = { .kind = INJECT_SYSCALL, .what = SYS_getpid };
	struct inject_choice choice = { 0 };
	auto_proc struct proc *proc = NULL;
	struct uspl_err err = { 0 };
	size_t done = 0;
	bool good;
	pid_t pid;

	if (unshare(CLONE_NEWPID) != 0) {
		ok(true, "a small id # SKIP unshare: %s", strerror(errno));
		return;
	}
	pid = start(thread_amid_fresh);
	good = proc_open(pid, &proc, &err) == 0;
	for (int i = 0; good && i < ROUNDS; i++)
		good = inject_run_in(proc, &choice, &call, 1, &done, &err) == 0 && call.result == 1;
	ok(good, "a thread with a small id makes system calls (%s)", err.msg);
	ok(finish(pid) == 0, "and nothing below its stack has changed");
}

int main(void)
{
	share();
	amid = mmap(NULL, sizeof(*amid), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	test_work("the main thread on a small stack", switch_over, true);
	test_work("a thread on a small stack", thread_on_small_stack, true);
	test_work("a program that has locked its memory", locked_on_small_stack, true);
	test_work("a thread that has used all of its stack", thread_on_full_stack, false);
	test_work("one above a guard region", thread_above_guard, false);
	test_work("one on a stack that it was given", thread_on_given_stack, false);
	test_large_state();
	test_unknown();
	test_small_tid();
	return tap_done();
}
