// SPDX-License-Identifier: GPL-3.0-or-later
// sampler_test.c - a thread that runs is seen with its stack, and goes on; one that sleeps is not

#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "safety/safety.h"
#include "tap.h"

#define PATIENCE_NS 60000000000ll
#define RBX 3 /* its DWARF number */
#define MARK 0x5ea15ea15ea15ea1ull

/* What the child tells. */
struct talk {
	uint64_t turns;
	uint64_t from, to, mark_at; /* its loop, and a word of its stack */
};

static volatile struct talk *shared;

static __attribute__((noinline)) void turn(void)
{
	uint64_t from, to;

	__asm__ volatile("lea 1f(%%rip), %0\n\tlea 2f(%%rip), %1" : "=r"(from), "=r"(to));
	shared->from = from;
	shared->to = to;
	/* The register keeps its value for as long as the loop turns. */
	__asm__ volatile("1:	incq (%0)\n"
			 "	jmp 1b\n"
			 "2:"
			 :
			 : "r"(&shared->turns), "b"(MARK)
			 : "memory");
}

/* The mark is in the caller's frame: its own may lie below the stack pointer. */
static void spin(void)
{
	volatile uint64_t mark = MARK;

	shared->mark_at = (uintptr_t)&mark;
	turn();
	mark = 0;
}

static void sleep_on(void)
{
	shared->turns = 1;
	poll(NULL, 0, -1);
}

static pid_t start(void (*body)(void))
{
	pid_t pid;

	shared->turns = 0;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(100);
		body();
		_exit(0);
	}
	while (!shared->turns)
		sched_yield();
	return pid;
}

static void finish(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static bool see(pid_t tid, int64_t deadline, struct thread_sample *ret)
{
	struct sampler sampler;
	bool taken;

	if (!sampler_open(&sampler, tid))
		return false;
	taken = sampler_await(&sampler, deadline, ret);
	sampler_close(&sampler);
	return taken;
}

/* What is seen was so at the time that was asked for, or later. */
static void test_since(void)
{
	pid_t pid = start(spin);
	static struct thread_sample thread_sample;
	struct sampler sampler;
	bool early = false;

	ok(sampler_open(&sampler, pid), "a post");
	for (int i = 0; i < 50; i++) {
		int64_t since;

		if (!sampler_await(&sampler, clock_now_ns() + PATIENCE_NS, &thread_sample))
			break;
		since = clock_now_ns() + 1000000000;
		early |= sampler_take(&sampler, since, &thread_sample);
	}
	ok(!early, "notes from before the time that is asked for aren't taken");
	ok(sampler_await(&sampler, clock_now_ns() + PATIENCE_NS, &thread_sample), "later ones are");
	sampler_close(&sampler);
	finish(pid);
}

static void test_runs(void)
{
	pid_t pid = start(spin);
	static struct thread_sample thread_sample;
	bool taken = see(pid, clock_now_ns() + PATIENCE_NS, &thread_sample);
	uint64_t sp = thread_sample.regs.value[DWARF_SP], turns, word = 0;
	size_t at = shared->mark_at - sp;
	int status;

	ok(taken, "a thread that runs is seen");
	ok(some_regs_know(&thread_sample.regs, DWARF_PC) &&
		   thread_sample.regs.value[DWARF_PC] >= shared->from &&
		   thread_sample.regs.value[DWARF_PC] < shared->to,
	   "in its loop");
	ok(some_regs_know(&thread_sample.regs, RBX) && thread_sample.regs.value[RBX] == MARK,
	   "with its registers");
	if (taken && at + sizeof(word) <= thread_sample.stack_len)
		memcpy(&word, thread_sample.stack + at, sizeof(word));
	ok(word == MARK, "and its stack, of which %zu bytes are copied", thread_sample.stack_len);
	turns = shared->turns;
	while (shared->turns == turns)
		sched_yield();
	ok(waitpid(pid, &status, WNOHANG | WUNTRACED) == 0, "it goes on, and was not stopped");
	finish(pid);
}

/* Until the kernel says that it is blocked. */
static void await_sleep(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	for (;;) {
		auto_buf struct buf text = { 0 };

		if (file_read(path, &text, NULL) != 0 ||
		    strtol(buf_str(&text), NULL, 0) == SYS_poll)
			return;
		sched_yield();
	}
}

static void test_sleeps(void)
{
	pid_t pid = start(sleep_on);
	static struct thread_sample thread_sample;

	await_sleep(pid);
	ok(!see(pid, clock_now_ns() + 5000000, &thread_sample), "one that sleeps isn't");
	finish(pid);
	ok(!see(pid, clock_now_ns() + PATIENCE_NS, &thread_sample), "nor one that is gone");
}

/* True if the thread was seen, and its stack followed. */
static bool warm(struct safety *safety, pid_t tid)
{
	struct sampler sampler;
	bool seen;

	if (!sampler_open(&sampler, tid))
		return false;
	seen = safety_warm_unwinder(safety, &sampler);
	sampler_close(&sampler);
	return seen;
}

/* The stack of one that runs is followed for the first time before it is stopped for it. */
static void test_rehearsal(void)
{
	pid_t runs = start(spin), sleeps = start(sleep_on);
	int64_t deadline = clock_now_ns() + PATIENCE_NS;
	auto_unwinder struct unwinder *unwinder = NULL;
	auto_proc struct proc *proc = NULL;
	struct safety safety = { 0 };
	module_vec modules = { 0 };
	bool seen = false;

	await_sleep(sleeps);
	ok(proc_open(runs, &proc, NULL) == 0 && modules_read(proc, &modules, NULL) == 0 &&
		   unwinder_new(proc, &modules, &unwinder, NULL) == 0,
	   "an unwinder");
	safety.proc = proc;
	safety.unwinder = unwinder;
	/* It may have to wait for a processor. */
	while (!seen && clock_now_ns() < deadline)
		seen = warm(&safety, runs);
	ok(seen, "the stack of one that runs is followed");
	ok(!warm(&safety, sleeps), "that of one that sleeps isn't");
	finish(sleeps);
	ok(!warm(&safety, sleeps), "nor that of one that is gone");
	modules_release(&modules);
	finish(runs);
}

/* A container may forbid it. */
static bool is_allowed(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.disabled = 1,
		.exclude_kernel = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int main(void)
{
	if (!is_allowed())
		tap_skip_all("the kernel gives us no perf events");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return 1;
	test_runs();
	test_since();
	test_sleeps();
	test_rehearsal();
	return tap_done();
}
