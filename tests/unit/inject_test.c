// SPDX-License-Identifier: GPL-3.0-or-later
// inject_test.c - calls made by a target on our behalf leave no trace in it, not even if the tool
// disappears

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

#include "inject/agent.h"
#include "inject_target.h"
#include "tap.h"
#include "thread/thread.h"

extern const uint8_t uspl_agent[], uspl_agent_end[], uspl_agent_back_end[];

static long add(long a, long b)
{
	return a * 1000 + b;
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

/* The same in a thread that is let go with them, and answers on a result page. */
static void test_detached(void)
{
	const struct inject_choice choice = { .result_page = RESULT_PAGE };
	pid_t pid = start(spin);
	struct uspl_err err = { 0 };
	auto_proc struct proc *proc = NULL;
	size_t done = 0;
	struct inject_req reqs[3] = {
		{ .kind = INJECT_SYSCALL, .what = SYS_getpid },
		{ .kind = INJECT_SYSCALL, .what = SYS_close, .args = { 9999 } },
		{ .kind = INJECT_SYSCALL, .what = SYS_getpid },
	};
	int good = 0;

	ok(proc_open(pid, &proc, &err) == 0 &&
		   inject_run_in(proc, &choice, reqs, 1, &done, &err) == 0 && done == 1 &&
		   reqs[0].result == pid,
	   "a thread makes a call and finds back (%s)", err.msg);
	ok(shared->result_page.done == 1, "it has said so where it was to");
	ok(inject_run_in(proc, &choice, reqs, 3, &done, &err) == 0 && done == 2 &&
		   reqs[1].result == -EBADF && reqs[2].result == 0,
	   "a failed call ends the run (%s)", err.msg);
	for (int i = 0; i < 20; i++) {
		reqs[0].result = 0;
		good += inject_run_in(proc, &choice, reqs, 1, &done, &err) == 0 &&
			reqs[0].result == pid;
	}
	ok(good == 20, "again and again");
	ok(goes_on() && finish(pid) == 0, "the thread has its own state");
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
	int64_t half_over = clock_now_ns() + 500000000;
	size_t done;
	bool good = proc_open(pid, &proc, &err) == 0;

	/* As often as there is time on a busy machine, as long as it sleeps. */
	for (int i = 0; i < 20 && good && (!i || clock_now_ns() < half_over); i++)
		good = inject_run(proc, &req, 1, &done, &err) == 0 && req.result == pid;
	ok(good, "a sleeping thread makes system calls (%s)", err.msg);
	ok(finish(pid) == 0 && shared->sleep_result == 0, "and sleeps on, without EINTR");
	ok(shared->slept_ns > 990000000 && shared->slept_ns < 1500000000,
	   "for the time that it wanted: %ld ns", shared->slept_ns);
}

/*
 * The agent's code; one that takes the way back of threads with a shadow stack also where there is
 * none: its last jump, to that way, is made unconditional.
 */
static int write_agent(const struct proc *proc, taddr at, bool shadowed, struct uspl_err *err)
{
	static const uint8_t jnz[] = { 0x75, 0x09 };
	size_t len = (size_t)(uspl_agent_back_end - uspl_agent), end, i;
	uint8_t code[AGENT_BACK_MAX];

	memcpy(code, uspl_agent, len);
	end = (size_t)(uspl_agent_end - uspl_agent);
	for (i = end - 16; i < end && memcmp(code + i, jnz, sizeof(jnz)) != 0; i++)
		;
	if (i == end)
		return uspl_fail(err, USPL_E_SYSTEM, "the agent has no such jump");
	if (shadowed)
		code[i] = 0xeb;
	return proc_write(proc, at, code, len, err);
}

/*
 * The tool sets the registers and is gone: the thread must find its way back by itself, with the
 * state that the kernel gives as `note`.
 */
static void test_abandoned(int note, bool shadowed)
{
	pid_t pid = start(spin);
	struct uspl_err err = { 0 };
	auto_proc struct proc *proc = NULL;
	struct thread thread = { 0 };
	static uint8_t xstate[16384];
	struct iovec iov = { xstate, sizeof(xstate) };
	static const struct agent_result_page result_page = { .reqs = { { .kind = 0,
									  .what = SYS_getpid } } };
	struct agent_run run = { .result_page = &result_page, .n = 1 };
	struct agent_frame frame = { 0 };
	uint64_t mask = 0, all = ~0ull;
	struct buf state = { 0 };
	bool good;

	run.agent = (taddr)(uintptr_t)mmap(NULL, 4096, PROT_READ | PROT_EXEC,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	finish(pid);
	pid = start(spin); /* inherits the page for the agent */
	thread.tid = pid;
	good = proc_open(pid, &proc, &err) == 0 &&
	       write_agent(proc, run.agent, shadowed, &err) == 0 &&
	       thread_seize(proc, &thread, &err) == 0;
	thread_interrupt(&thread);
	good = good && thread_wait(proc, &thread, clock_now_ns() + 1000000000, &err) == 0 &&
	       thread_read_regs(proc, &thread, &err) == 0;
	ptrace(PTRACE_GETREGSET, pid, (void *)(long)note, &iov);
	ptrace(PTRACE_GETSIGMASK, pid, sizeof(mask), &mask);
	buf_add(&state, xstate, iov.iov_len);
	good = good && agent_frame_build(&thread.regs, &state, mask, &run, &frame, &err) == 0 &&
	       proc_write(proc, frame.addr, frame.bytes.data, frame.bytes.len, &err) == 0 &&
	       proc_write(proc, run.agent + (taddr)(uspl_agent_back_end - uspl_agent), &frame.back,
			  sizeof(frame.back), &err) == 0;
	ok(good, "the agent's frame is in place (%s)", err.msg);
	ptrace(PTRACE_SETREGS, pid, NULL, &frame.regs.user);
	ptrace(PTRACE_SETSIGMASK, pid, sizeof(all), &all);
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	ok(goes_on(), "an abandoned thread returns to its own code%s",
	   shadowed ? ", without rt_sigreturn" : "");
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
	inject_left_vec none = { 0 }, left = { 0 }, still = { 0 }, accounted = { 0 };
	struct inject_agent *agent = NULL;
	struct inject_req req = { .kind = INJECT_SYSCALL, .what = SYS_getpid };
	const struct inject_choice choice = { .result_page = RESULT_PAGE };
	size_t done;
	int rc = proc_open(pid, &proc, &err);

	if (!rc)
		rc = modules_read(proc, &modules, &err);
	if (!rc)
		rc = agent_left_find(proc, &modules, &none, &err);
	ok(rc == 0 && none.n == 0, "no agent is left in a process that none was in (%s)", err.msg);
	if (!rc)
		rc = agent_new(proc, NULL, &agent, &err);
	if (!rc)
		rc = agent_left_find(proc, &modules, &left, &err);
	ok(rc == 0 && left.n == 1, "one that was not taken away is found");
	shared->result_page.done = 7;
	ok(inject_run_in(proc, &choice, &req, 1, &done, &err) == 0 && req.result == pid,
	   "another tool's requests are run all the same");
	ok(shared->result_page.done == 7,
	   "without the slate, to which the dead one's thread may write");
	ok(agent_left_find(proc, &modules, &still, &err) == 0 && still.n == 1,
	   "and leave the agent where it is");
	agent_left_clear(proc, &left);
	ok(agent_left_find(proc, &modules, &accounted, &err) == 0 && accounted.n == 0,
	   "it can be cleared away");
	free(agent);
	vec_release(&left);
	vec_release(&still);
	modules_release(&modules);
	ok(finish(pid) == 0, "the target has noticed nothing");
}

/* Makes a call in the target that takes longer than we wait for; *ret_left: agents that stay. */
static int run_slow_call(pid_t pid, bool blocked, size_t *ret_left)
{
	struct uspl_err err = { 0 };
	auto_proc struct proc *proc = NULL;
	module_vec modules = { 0 };
	inject_left_vec left = { 0 };
	struct inject_req req = { .kind = INJECT_SYSCALL,
				  .what = SYS_poll,
				  .args = { 0, 0, 12000 } };
	const struct inject_choice choice = { .result_page = RESULT_PAGE };
	size_t done = 0;
	int rc = proc_open(pid, &proc, &err);

	if (!rc)
		rc = modules_read(proc, &modules, &err);
	while (!rc && blocked && inject_sleeper(proc) != pid)
		sched_yield();
	if (!rc)
		rc = inject_run_in(proc, &choice, &req, 1, &done, &err);
	if (proc && agent_left_find(proc, &modules, &left, NULL) == 0)
		*ret_left = left.n;
	vec_release(&left);
	modules_release(&modules);
	return rc;
}

/* A thread that takes too long for it gets its own state back, in either way. */
static void test_slow(void)
{
	pid_t detached = start(spin), led;
	size_t left = 9;

	ok(run_slow_call(detached, false, &left) == -USPL_E_UNSTOPPABLE,
	   "a call that doesn't end is given up");
	ok(left == 0 && goes_on(), "the thread is back where it was, and the code gone");
	ok(finish(detached) == 0, "with all that is its own");
	left = 9;
	led = start(sleeper);
	ok(run_slow_call(led, true, &left) == -USPL_E_UNSTOPPABLE,
	   "so is one in a thread that was asleep");
	ok(left == 0 && finish(led) == 0, "it goes on, too, and the code is gone");
}

int main(void)
{
	share();
	test_requests();
	test_detached();
	test_table();
	test_sleeper();
	test_abandoned(NT_X86_XSTATE, false);
	test_abandoned(NT_PRFPREG, false);
	for (int i = 0; i < 20; i++)
		test_abandoned(NT_X86_XSTATE, true);
	test_left();
	test_slow();
	return tap_done();
}
