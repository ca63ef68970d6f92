// SPDX-License-Identifier: GPL-3.0-or-later
// inject_test.c - calls made by a target on our behalf leave no trace in it, not even if the tool disappears

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <elf.h>
#include <time.h>

#include "proc/inject.h"
#include "proc/thread.h"
#include "tap.h"

extern const uint8_t uspl_agent[], uspl_agent_end[];

/* What the target and the test share. */
struct shared {
	volatile int ready, stop, wrong;
	volatile unsigned long rounds;
	volatile long slept_ns;
	volatile int sleep_result;
	taddr function;
};

static struct shared *shared;

static long add(long a, long b)
{
	return a * 1000 + b;
}

/* Keeps values in every vector register and in the mask, and looks whether they stay. */
static void spin(void)
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

static void sleeper(void)
{
	struct timespec start, end, req = { 1, 0 };

	clock_gettime(CLOCK_MONOTONIC, &start);
	shared->ready = 1;
	shared->sleep_result = nanosleep(&req, NULL) ? errno : 0;
	clock_gettime(CLOCK_MONOTONIC, &end);
	shared->slept_ns = (end.tv_sec - start.tv_sec) * 1000000000l + end.tv_nsec - start.tv_nsec;
	_exit(0);
}

static pid_t start(void (*body)(void))
{
	pid_t pid;

	memset((void *)shared, 0, sizeof(*shared));
	pid = fork();
	if (!pid) {
		alarm(20);
		body();
	}
	while (!shared->ready)
		sched_yield();
	return pid;
}

/* True once the target has gone round some more, within ten seconds. */
static bool goes_on(void)
{
	unsigned long from = shared->rounds;
	int64_t deadline = clock_now_ns() + 10000000000ll;

	while (shared->rounds < from + 100)
		if (clock_now_ns() > deadline)
			return false;
	return true;
}

static int finish(pid_t pid)
{
	int status = -1;

	shared->stop = 1;
	waitpid(pid, &status, 0);
	return status;
}

static void test_requests(void)
{
	pid_t pid = start(spin);
	struct uspl_err err = { 0 };
	auto_proc struct proc *proc = NULL;
	size_t done = 0;
	struct inject_req reqs[4] = {
		{ .kind = INJECT_SYSCALL, .what = SYS_getpid },
		{ .kind = INJECT_CALL, .what = (uint64_t)(uintptr_t)add, .args = { 7, 9 } },
		{ .kind = INJECT_SYSCALL, .what = SYS_close, .args = { 9999 } },
		{ .kind = INJECT_SYSCALL, .what = SYS_getpid },
	};

	ok(proc_open(pid, &proc, &err) == 0, "a process of ours can be opened");
	ok(inject_run(proc, reqs, 2, &done, &err) == 0 && done == 2, "two requests are run (%s)",
	   err.msg);
	ok(reqs[0].result == pid, "the system call was made by the target");
	ok(reqs[1].result == 7009, "the function was called with its arguments");
	ok(inject_run(proc, reqs + 2, 2, &done, &err) == 0 && done == 1 && reqs[2].result == -EBADF,
	   "a failed system call ends the run (%s; %zu done, result %ld)", err.msg, done,
	   (long)reqs[2].result);
	for (int i = 0; i < 200; i++)
		if (inject_run(proc, reqs, 2, &done, &err) != 0 || reqs[1].result != 7009)
			break;
	ok(goes_on(), "the target goes on");
	ok(finish(pid) == 0, "no register, signal mask or signal stack was changed");
}

/* Words that are in the target's own memory; the third one isn't what it should be. */
static uint64_t words[4] = { 10, 20, 30, 40 };
static struct inject_word table[4] = {
	{ (uintptr_t)&words[0], 10, 11 },
	{ (uintptr_t)&words[1], 20, 21 },
	{ (uintptr_t)&words[2], 31, 32 },
	{ (uintptr_t)&words[3], 40, 41 },
};

static void test_table(void)
{
	pid_t pid = start(spin);
	struct uspl_err err = { 0 };
	auto_proc struct proc *proc = NULL;
	uint64_t now[4] = { 0 };
	size_t done = 0;
	struct inject_req req = { .kind = INJECT_TABLE,
				  .what = (uintptr_t)table,
				  .args = { ARRAY_SIZE(table) } };
	struct inject_req none = { .kind = INJECT_TABLE, .what = (uintptr_t)table };

	ok(proc_open(pid, &proc, &err) == 0 && inject_run(proc, &req, 1, &done, &err) == 0 &&
		   req.result == 2,
	   "a table is gone through up to the first word that is another one (%s)", err.msg);
	ok(proc_read(proc, (uintptr_t)words, now, sizeof(now), &err) == 0 && now[0] == 11 &&
		   now[1] == 21 && now[2] == 30 && now[3] == 40,
	   "those before it are exchanged, and no other one");
	ok(inject_run(proc, &none, 1, &done, &err) == 0 && none.result == 0, "an empty table");
	ok(goes_on() && finish(pid) == 0, "the target goes on, with all its registers");
}

static void test_sleeper(void)
{
	pid_t pid = start(sleeper);
	struct uspl_err err = { 0 };
	auto_proc struct proc *proc = NULL;
	struct inject_req req = { .kind = INJECT_SYSCALL, .what = SYS_getpid };
	size_t done;
	bool good = proc_open(pid, &proc, &err) == 0;

	for (int i = 0; i < 20 && good; i++)
		good = inject_run(proc, &req, 1, &done, &err) == 0 && req.result == pid;
	ok(good, "a sleeping thread makes system calls (%s)", err.msg);
	ok(finish(pid) == 0 && shared->sleep_result == 0, "and sleeps on, without EINTR");
	ok(shared->slept_ns > 990000000 && shared->slept_ns < 1500000000,
	   "for the time that it wanted: %ld ns", shared->slept_ns);
}

/* The tool sets the registers and is gone: the thread must find its way back by itself. */
static void test_abandoned(void)
{
	pid_t pid = start(spin);
	struct uspl_err err = { 0 };
	auto_proc struct proc *proc = NULL;
	struct thread thread = { 0 };
	static uint8_t xstate[16384];
	struct iovec iov = { xstate, sizeof(xstate) };
	struct agent_request req = { .kind = 0, .what = SYS_getpid };
	struct agent_frame frame = { 0 };
	uint64_t mask = 0, all = ~0ull;
	struct buf state = { 0 };
	taddr agent;
	bool good;

	agent = (taddr)(uintptr_t)mmap(NULL, 4096, PROT_READ | PROT_EXEC,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	finish(pid);
	pid = start(spin); /* inherits the page for the agent */
	thread.tid = pid;
	good = proc_open(pid, &proc, &err) == 0 &&
	       proc_write(proc, agent, uspl_agent, (size_t)(uspl_agent_end - uspl_agent), &err) ==
		       0 &&
	       thread_seize(proc, &thread, &err) == 0;
	thread_interrupt(&thread);
	good = good && thread_wait(proc, &thread, clock_now_ns() + 1000000000, &err) == 0 &&
	       thread_read_regs(proc, &thread, &err) == 0;
	ptrace(PTRACE_GETREGSET, pid, (void *)NT_X86_XSTATE, &iov);
	ptrace(PTRACE_GETSIGMASK, pid, sizeof(mask), &mask);
	buf_add(&state, xstate, iov.iov_len);
	good = good &&
	       agent_frame_build(&thread.regs, &state, mask, agent, &req, 1, &frame, &err) == 0 &&
	       proc_write(proc, frame.addr, frame.bytes.data, frame.bytes.len, &err) == 0;
	ok(good, "the agent's frame is in place (%s)", err.msg);
	ptrace(PTRACE_SETREGS, pid, NULL, &frame.regs.user);
	ptrace(PTRACE_SETSIGMASK, pid, sizeof(all), &all);
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	ok(goes_on(), "an abandoned thread returns to its own code");
	ok(finish(pid) == 0, "with its own registers, signal mask and signal stack");
	buf_release(&state);
	agent_frame_release(&frame);
}

/* What a tool that died has left is found, does no harm, stays as long as a thread may be in it. */
static void test_left(void)
{
	pid_t pid = start(spin);
	struct uspl_err err = { 0 };
	auto_proc struct proc *proc = NULL;
	module_vec modules = { 0 };
	inject_left_vec none = { 0 }, left = { 0 }, still = { 0 }, cleared = { 0 };
	struct inject_agent *agent = NULL;
	struct inject_req req = { .kind = INJECT_SYSCALL, .what = SYS_getpid };
	size_t done;
	int rc = proc_open(pid, &proc, &err);

	if (!rc)
		rc = modules_read(proc, &modules, &err);
	if (!rc)
		rc = inject_left_find(proc, &modules, &none, &err);
	ok(rc == 0 && none.n == 0, "no agent is left in a process that none was in (%s)", err.msg);
	if (!rc)
		rc = inject_agent_new(proc, &agent, &err);
	if (!rc)
		rc = inject_left_find(proc, &modules, &left, &err);
	ok(rc == 0 && left.n == 1, "one that was not taken away is found");
	ok(inject_run(proc, &req, 1, &done, &err) == 0 && req.result == pid,
	   "another tool's requests are run all the same");
	ok(inject_left_find(proc, &modules, &still, &err) == 0 && still.n == 1,
	   "and leave the agent where it is");
	inject_left_clear(proc, &left);
	ok(inject_left_find(proc, &modules, &cleared, &err) == 0 && cleared.n == 0,
	   "it can be cleared away");
	free(agent);
	vec_release(&left);
	vec_release(&still);
	modules_release(&modules);
	ok(finish(pid) == 0, "the target has noticed nothing");
}

/* A call that takes longer than we wait for: the thread is still in the agent when we give up. */
static void test_slow(void)
{
	pid_t pid = start(spin);
	struct uspl_err err = { 0 };
	auto_proc struct proc *proc = NULL;
	module_vec modules = { 0 };
	inject_left_vec left = { 0 };
	struct inject_req req = { .kind = INJECT_SYSCALL,
				  .what = SYS_poll,
				  .args = { 0, 0, 12000 } };
	size_t done = 0;
	int rc = proc_open(pid, &proc, &err);

	if (!rc)
		rc = modules_read(proc, &modules, &err);
	ok(rc == 0 && inject_run(proc, &req, 1, &done, &err) == -USPL_E_UNSTOPPABLE,
	   "a call that doesn't end is given up (%s)", err.msg);
	ok(inject_left_find(proc, &modules, &left, &err) == 0 && left.n == 1,
	   "the code that the thread is in stays");
	vec_release(&left);
	modules_release(&modules);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	sigset_t child;

	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	test_requests();
	test_table();
	test_sleeper();
	test_abandoned();
	test_left();
	test_slow();
	return tap_done();
}
