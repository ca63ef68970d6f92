// SPDX-License-Identifier: GPL-3.0-or-later
// vm_sharers_test.c - processes that share a process's memory are found wherever they are, and
// waited for

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tap.h"
#include "thread/vm_sharers.h"

#define PATIENCE_NS 20000000000ll

struct talk {
	volatile int ready, go, end, leave;
	volatile pid_t child;
};

static struct talk *talk;
static uint8_t stacks[2][65536];

/* True once the condition holds. */
#define until(cond)                                                                                \
	({                                                                                         \
		int64_t until_ = clock_now_ns() + PATIENCE_NS;                                     \
		while (!(cond) && clock_now_ns() < until_)                                         \
			sched_yield();                                                             \
		(cond);                                                                            \
	})

static int stay(void *unused)
{
	(void)unused;
	talk->child = (pid_t)syscall(SYS_getpid);
	talk->ready = 1;
	while (!talk->end)
		sched_yield();
	syscall(SYS_exit, 0);
	return 0;
}

static int leave_child(void *unused)
{
	(void)unused;
	clone(stay, stacks[1] + sizeof(stacks[1]), CLONE_VM | SIGCHLD, NULL);
	syscall(SYS_exit, 0);
	return 0;
}

static void a_child(void)
{
	clone(stay, stacks[0] + sizeof(stacks[0]), CLONE_VM | SIGCHLD, NULL);
}

/* Its parent had the same memory and has ended. */
static void an_orphan(void)
{
	int status;

	waitpid(clone(leave_child, stacks[0] + sizeof(stacks[0]), CLONE_VM | SIGCHLD, NULL),
		&status, 0);
	talk->go = 1;
}

static void a_sibling(void)
{
	clone(stay, stacks[0] + sizeof(stacks[0]), CLONE_VM | CLONE_PARENT | SIGCHLD, NULL);
}

static void in_vfork(void)
{
	if (!vfork())
		stay(NULL);
}

static void nobody(void)
{
	talk->ready = 1;
}

static void nobody_and_then_a_child(void)
{
	talk->ready = 1;
	while (!talk->go)
		sched_yield();
	a_child();
}

static pid_t start_target(void (*body)(void), struct proc **ret)
{
	pid_t pid;

	memset(talk, 0, sizeof(*talk));
	pid = fork();
	if (!pid) {
		alarm(60);
		body();
		while (!talk->leave)
			sched_yield();
		_exit(0);
	}
	return until(talk->ready && (talk->go || body != an_orphan)) &&
			       proc_open(pid, ret, NULL) == 0
		       ? pid
		       : 0;
}

static void finish(pid_t pid)
{
	talk->end = talk->leave = 1;
	waitpid(pid, NULL, 0);
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static void test_found(const char *what, void (*body)(void))
{
	struct vm_sharers vm_sharers = { 0 }, others = { 0 };
	struct proc *proc = NULL, *other = NULL;
	struct uspl_err err = { 0 };
	pid_t pid = start_target(body, &proc);
	char name[32];

	ok(pid && vm_sharers_await(proc, &vm_sharers, 0, &err) == -USPL_E_UNSUPPORTED,
	   "%s is found", what);
	snprintf(name, sizeof(name), "pid %d ", talk->child);
	ok(strstr(err.msg, name), "and named: %s", err.msg);
	ok(proc_open(talk->child, &other, NULL) == 0 &&
		   vm_sharers_await(other, &others, 0, NULL) == -USPL_E_UNSUPPORTED,
	   "from the other side, too");
	talk->end = 1;
	ok(vm_sharers_await(proc, &vm_sharers, clock_now_ns() + PATIENCE_NS, &err) == 0,
	   "it is waited for");
	finish(pid);
	proc_free(proc);
	proc_free(other);
}

/* Whose parent, by the time that it is asked for, is a stranger. */
static void nobody_and_then_an_orphan(void)
{
	talk->ready = 1;
	while (!talk->go)
		sched_yield();
	an_orphan();
}

static void test_birth(const char *what, void (*body)(void))
{
	struct proc *proc = NULL;
	struct vm_sharers vm_sharers = { 0 };
	pid_t pid = start_target(body, &proc);

	ok(pid && vm_sharers_none_since(proc, &vm_sharers) &&
		   vm_sharers_none_since(proc, &vm_sharers),
	   "there is none at first");
	talk->ready = 0;
	talk->go = 1;
	ok(until(talk->ready) && !vm_sharers_none_since(proc, &vm_sharers),
	   "%s that is born then is noticed", what);
	ok(!vm_sharers_none_since(proc, &vm_sharers), "and at the next look, too");
	talk->end = 1;
	ok(vm_sharers_await(proc, &vm_sharers, clock_now_ns() + PATIENCE_NS, NULL) == 0,
	   "until it has ended");
	finish(pid);
	proc_free(proc);
}

/* Sets what id the next process gets, in this pid namespace. */
static bool set_next_id(const char *id)
{
	int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
	bool set = fd >= 0 && write(fd, id, strlen(id)) == (ssize_t)strlen(id);

	close(fd);
	return set;
}

/* Ids begin anew after the highest, here from 20000 on, which the child still has. */
static int test_ids(void)
{
	struct vm_sharers vm_sharers = { 0 };
	struct proc *proc = NULL;
	pid_t pid;

	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("proc", "/proc", "proc", 0, NULL) || !set_next_id("20000"))
		return 77;
	pid = start_target(a_child, &proc);
	if (!pid || talk->child < 20000 || !set_next_id("200"))
		return 77;
	for (int i = 0; i < 5; i++) {
		if (vm_sharers_none_since(proc, &vm_sharers))
			return 1;
		waitpid(fork() ?: (_exit(0), 0), NULL, 0);
	}
	finish(pid);
	proc_free(proc);
	return 0;
}

/* In a pid namespace of its own, if it may have one. */
static void test_ids_begin_anew(void)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		if (unshare(CLONE_NEWPID | CLONE_NEWNS))
			_exit(77);
		pid = fork();
		if (!pid)
			_exit(test_ids());
		waitpid(pid, &status, 0);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 2);
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		ok(true, "ids begin anew (skipped: no namespace can be made here)");
	else
		ok(WIFEXITED(status) && !WEXITSTATUS(status),
		   "a child with a higher id than the last one is found again and again");
}

static int run_tests(void)
{
	struct vm_sharers vm_sharers = { 0 };
	struct proc *proc = NULL;
	pid_t pid;

	pid = start_target(nobody, &proc);
	ok(pid && vm_sharers_await(proc, &vm_sharers, 0, NULL) == 0,
	   "a child that was forked shares nothing");
	finish(pid);
	proc_free(proc);
	test_found("a child", a_child);
	test_found("a child whose parent has ended", an_orphan);
	test_found("a sibling", a_sibling);
	test_found("a child in vfork()", in_vfork);
	test_birth("a child", nobody_and_then_a_child);
	test_birth("a child whose parent has ended", nobody_and_then_an_orphan);
	test_ids_begin_anew();
	return tap_done();
}

/* Orphans go to a process that isn't the target's parent. */
int main(void)
{
	int status = 0;
	pid_t pid, ended;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	talk = mmap(NULL, sizeof(*talk), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = fork();
	if (!pid)
		return run_tests();
	do
		ended = waitpid(-1, &status, 0);
	while (ended > 0 && ended != pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
