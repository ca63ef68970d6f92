// SPDX-License-Identifier: GPL-3.0-or-later
// hw_breakpoint_test.c - a thread is seen to come to a place, and only then

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "thread/thread.h"
#include "thread/hw_breakpoint.h"

/* What the child tells and is told. */
struct talk {
	int go, depth;
	uint64_t pc, sp;
};

static volatile struct talk *shared;

static void wait_for(int step)
{
	while (shared->go < step)
		sched_yield();
}

static __attribute__((noinline)) void before_call(int level, uint64_t pc, uint64_t sp)
{
	if (level < 3)
		return;
	shared->pc = pc;
	shared->sp = sp;
	wait_for(1);
}

static __attribute__((noinline)) void after_call(int level)
{
	if (level != 2)
		return;
	shared->depth = 2;
	wait_for(3);
}

/* Calls itself; at each level the call returns to the same place, with another stack pointer. */
static __attribute__((noinline)) void descend(int level)
{
	uint64_t pc, sp;

	if (!level) {
		shared->depth = 1;
		wait_for(2);
		return;
	}
	__asm__ volatile("lea 1f(%%rip), %0\n\tmov %%rsp, %1" : "=r"(pc), "=r"(sp));
	before_call(level, pc, sp);
	descend(level - 1);
	__asm__ volatile("1:" : : : "memory");
	after_call(level);
}

static pid_t start(void)
{
	pid_t pid;

	shared->go = shared->depth = 0;
	shared->sp = 0;
	pid = fork();
	if (pid)
		return pid;
	alarm(20);
	descend(3);
	shared->depth = 3;
	wait_for(4);
	_exit(0);
}

static void reach(int depth)
{
	while (shared->depth < depth)
		sched_yield();
}

/* True when the watch has news within two seconds; they may be of a pass that was told already. */
static bool has_news(const struct hw_breakpoint *breakpoint)
{
	struct pollfd fd = { .fd = breakpoint->fd, .events = POLLIN };

	return poll(&fd, 1, 2000) == 1 && (fd.revents & POLLIN);
}

static bool passes(struct hw_breakpoint *breakpoint, int64_t since)
{
	while (has_news(breakpoint))
		if (hw_breakpoint_passed(breakpoint, since))
			return true;
	return false;
}

static void test_recursion(struct hw_breakpoint *breakpoint)
{
	int64_t began = clock_now_ns();

	shared->go = 1;
	reach(1);
	ok(!hw_breakpoint_passed(breakpoint, began), "nothing is seen while all calls last");
	shared->go = 2;
	reach(2);
	ok(has_news(breakpoint) && !hw_breakpoint_passed(breakpoint, began),
	   "an inner call's return is not a pass");
	shared->go = 3;
	ok(passes(breakpoint, began), "the outer call's return is one");
	ok(!hw_breakpoint_passed(breakpoint, began), "it is told once");
	ok(!hw_breakpoint_passed(breakpoint, began), "and then no more");
}

static void test_end(struct hw_breakpoint *breakpoint, pid_t pid)
{
	int64_t now = clock_now_ns();
	int status;

	ok(!hw_breakpoint_passed(breakpoint, now), "the thread lives");
	shared->go = 4;
	ok(waitpid(pid, &status, 0) == pid && WIFEXITED(status),
	   "the thread has noticed nothing: it ends by itself");
	ok(hw_breakpoint_passed(breakpoint, now), "its end is a pass, too");
}

static void test_old_pass(void)
{
	struct hw_breakpoint breakpoint;
	pid_t pid = start();
	int rc;

	while (!shared->sp)
		sched_yield();
	rc = hw_breakpoint_open(&breakpoint, pid, shared->pc, shared->sp, NULL);
	shared->go = 3;
	ok(rc == 0 && has_news(&breakpoint), "there is a pass");
	reach(3);
	ok(!hw_breakpoint_passed(&breakpoint, clock_now_ns()), "one before the time doesn't count");
	hw_breakpoint_close(&breakpoint);
	hw_breakpoint_close(&breakpoint);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	struct uspl_err err = { 0 };
	struct hw_breakpoint breakpoint;
	pid_t pid;
	int rc;

	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = start();
	while (!shared->sp)
		sched_yield();
	rc = hw_breakpoint_open(&breakpoint, pid, shared->pc, shared->sp, &err);
	if (rc) {
		kill(pid, SIGKILL);
		tap_skip_all(err.msg);
	}
	test_recursion(&breakpoint);
	test_end(&breakpoint, pid);
	hw_breakpoint_close(&breakpoint);
	test_old_pass();
	ok(hw_breakpoint_open(&breakpoint, 0x7ffffff0, 4096, 0, &err) != 0 && breakpoint.fd < 0,
	   "a thread that doesn't exist can't be watched: %s", err.msg);
	ok(!hw_breakpoint_passed(&breakpoint, 0), "a watch that isn't open tells nothing");
	return tap_done();
}
