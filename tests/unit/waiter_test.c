// SPDX-License-Identifier: GPL-3.0-or-later
// waiter_test.c - a function that is left is noticed, whether its return can be watched or not

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "safety/waiter.h"
#include "tap.h"
#include "thread/thread.h"

#define MS 1000000ll
#define BREAKPOINTS 4 /* of a thread on x86-64 */

struct talk {
	uint64_t return_pc, return_sp;
	bool returned;
};

static volatile struct talk *shared;
static int trampoline[2];

/* Says where it will return to, and waits until the trampoline is opened. */
static __attribute__((noinline)) void hold(void)
{
	char c;

	shared->return_sp = (uint64_t)(uintptr_t)__builtin_dwarf_cfa();
	shared->return_pc = (uint64_t)(uintptr_t)__builtin_return_address(0);
	(void)!read(trampoline[0], &c, 1);
}

static pid_t start(void)
{
	pid_t pid;

	*shared = (struct talk){ 0 };
	pid = fork();
	if (!pid) {
		alarm(20);
		hold();
		shared->returned = true;
		pause();
		_exit(0);
	}
	while (!shared->return_pc)
		usleep(1000);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Opens the trampoline in a while, from another process. */
static pid_t open_later(void)
{
	pid_t pid = fork();

	if (!pid) {
		usleep(300000);
		(void)!write(trampoline[1], "", 1);
		_exit(0);
	}
	return pid;
}

static void wait_for(struct waiter *waiter, const struct safety_finding *finding, int64_t ns)
{
	struct waiter_stop stop = { .findings = finding, .n = 1, .length = MS / 10 };

	stop.checked = clock_now_ns();
	waiter_wait(waiter, &stop, stop.checked + ns);
}

/* Waits without and with a return to come. */
static void test(const char *what, pid_t pid, const struct safety_finding *finding)
{
	struct waiter waiter = { 0 };
	struct proc proc = { .pid = pid, .tid = pid };
	int64_t began = clock_now_ns();
	pid_t opener;

	waiter.proc = &proc;
	wait_for(&waiter, finding, 250 * MS);
	ok(clock_now_ns() - began >= 250 * MS, "%s: a thread that sleeps is not tried again", what);
	opener = open_later();
	wait_for(&waiter, finding, 10000 * MS);
	ok(clock_now_ns() - began < 8000 * MS, "%s: the return ends the wait", what);
	waitpid(opener, NULL, 0);
	while (!shared->returned && clock_now_ns() - began < 10000 * MS)
		usleep(1000);
	ok(shared->returned, "%s: and the thread notices nothing", what);
	waiter_release(&waiter);
}

static void test_watched(void)
{
	pid_t pid = start();
	struct safety_finding finding = { .tid = pid,
					  .function = "hold",
					  .return_pc = shared->return_pc,
					  .return_sp = shared->return_sp };

	test("watched", pid, &finding);
	end(pid);
}

/* As where the kernel refuses: the thread's breakpoints are all taken. */
static void test_refused(void)
{
	pid_t pid = start();
	struct safety_finding finding = { .tid = pid,
					  .function = "hold",
					  .return_pc = shared->return_pc,
					  .return_sp = shared->return_sp };
	struct hw_breakpoint taken[BREAKPOINTS + 1];
	int refused = 0;

	for (int i = 0; i < BREAKPOINTS + 1; i++)
		refused = hw_breakpoint_open(&taken[i], pid, (taddr)(uintptr_t)start + (taddr)i, 0,
					     NULL);
	ok(refused, "a thread has only %d breakpoints", BREAKPOINTS);
	test("refused", pid, &finding);
	for (int i = 0; i < BREAKPOINTS + 1; i++)
		hw_breakpoint_close(&taken[i]);
	end(pid);
}

static void test_unknown(void)
{
	pid_t pid = start();
	struct safety_finding finding = { .tid = pid, .function = "hold" };

	test("return not known", pid, &finding);
	end(pid);
}

static void test_killed(void)
{
	pid_t pid = start();
	struct proc proc = { .pid = pid, .tid = pid };
	struct safety_finding finding = { .tid = pid };
	struct waiter waiter = { .proc = &proc };
	int64_t began = clock_now_ns();

	end(pid);
	wait_for(&waiter, &finding, 10000 * MS);
	ok(clock_now_ns() - began < 8000 * MS, "a thread that has ended is not waited for");
	waiter_release(&waiter);
}

int main(void)
{
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (pipe(trampoline) != 0)
		return 1;
	test_watched();
	test_refused();
	test_unknown();
	test_killed();
	return tap_done();
}
