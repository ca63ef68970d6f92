// SPDX-License-Identifier: GPL-3.0-or-later
// inject_map_test.c - memory that a running target maps on our behalf, and answers in; and takes away, unless somebody is at work there

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "inject_target.h"
#include "proc/task.h"
#include "tap.h"

#define PAGES 4
#define VALUE 0x1122334455667788ull
/* Far more than it ever takes. */
#define PATIENCE_NS 60000000000ll

/* Memory of the target: some pages, with the slate in the last but one. */
struct memory {
	taddr map, slate;
};

static struct memory find_memory(const struct proc *proc)
{
	taddr map = mappings_find_wide(&proc->maps, PAGES * PAGE);

	return (struct memory){ map, map + (PAGES - 2) * PAGE };
}

static struct inject_req mapping(const struct memory *memory)
{
	return inject_mmap(memory->map, PAGES * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_FIXED_NOREPLACE);
}

static uint64_t read_word(const struct proc *proc, taddr addr)
{
	uint64_t word = 0;

	return proc_read(proc, addr, &word, sizeof(word), NULL) ? 0 : word;
}

static void test_mapped(void)
{
	pid_t pid = start(spin);
	struct uspl_err err = { 0 };
	auto_proc struct proc *proc = NULL;
	int rc = proc_open(pid, &proc, &err);
	struct memory memory = find_memory(proc);
	struct inject_req reqs[] = {
		mapping(&memory),
		{ .kind = INJECT_STORE, .what = memory.map + PAGE, .args = { VALUE } },
		inject_syscall(SYS_mprotect, memory.map + PAGE, PAGE, PROT_READ),
		inject_syscall(SYS_mprotect, memory.map, PAGE, PROT_NONE),
	};
	size_t done = 0;

	if (!rc)
		rc = inject_run_mapping(proc, memory.slate, reqs, ARRAY_SIZE(reqs), &done, &err);
	ok(rc == 0 && done == ARRAY_SIZE(reqs), "memory is mapped, written to, protected (%s)",
	   err.msg);
	ok((taddr)reqs[0].result == memory.map && reqs[2].result == 0 && reqs[3].result == 0,
	   "each request has its result");
	ok(read_word(proc, memory.map + PAGE) == VALUE, "what was stored is there");
	ok(read_word(proc, memory.slate) == 1, "the thread has said so in the new memory");
	ok(goes_on() && finish(pid) == 0, "and has its own state");
}

static void test_fails_later(void)
{
	pid_t pid = start(spin);
	struct uspl_err err = { 0 };
	auto_proc struct proc *proc = NULL;
	int rc = proc_open(pid, &proc, &err);
	struct memory memory = find_memory(proc);
	struct inject_req reqs[] = {
		mapping(&memory),
		inject_syscall(SYS_getpid, 0, 0, 0),
		inject_syscall(SYS_close, 9999, 0, 0),
		inject_syscall(SYS_getpid, 0, 0, 0),
	};
	size_t done = 0;

	if (!rc)
		rc = inject_run_mapping(proc, memory.slate, reqs, ARRAY_SIZE(reqs), &done, &err);
	ok(rc == 0 && done == 3 && reqs[1].result == pid && reqs[2].result == -EBADF &&
		   reqs[3].result == 0,
	   "a call that fails ends the run (%s; %zu done, %ld)", err.msg, done,
	   (long)reqs[2].result);
	ok(read_word(proc, memory.slate) == 3, "and is told of in the new memory");
	ok(goes_on() && finish(pid) == 0, "the thread has its own state");
}

/* There is no new memory to tell it in. */
static void test_fails_at_first(void)
{
	pid_t pid = start(spin);
	struct uspl_err err = { 0 };
	auto_proc struct proc *proc = NULL;
	int rc = proc_open(pid, &proc, &err);
	struct memory memory = find_memory(proc);
	struct inject_req taken = mapping(&memory);
	struct inject_req reqs[] = {
		mapping(&memory),
		{ .kind = INJECT_STORE, .what = memory.map, .args = { 7 } },
	};
	const uint64_t value = VALUE;
	size_t done = 0;

	if (!rc)
		rc = inject_run(proc, &taken, 1, &done, &err);
	if (!rc)
		rc = proc_write(proc, memory.slate, &value, sizeof(value), &err);
	if (!rc)
		rc = inject_run_mapping(proc, memory.slate, reqs, ARRAY_SIZE(reqs), &done, &err);
	ok(rc == 0 && done == 1 && reqs[0].result == -EEXIST,
	   "where something is mapped it is said (%s; %zu done, %ld)", err.msg, done,
	   (long)reqs[0].result);
	ok(read_word(proc, memory.slate) == VALUE && read_word(proc, memory.map) == 0,
	   "and nothing is written there");
	ok(goes_on() && finish(pid) == 0, "the thread has its own state");
}

/* That it has left the agent can't be told by its signals. */
static void spin_deaf(void)
{
	const uint64_t all = ~0ull;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, sizeof(all));
	shared->ready = 1;
	while (!shared->stop)
		shared->rounds++;
	_exit(0);
}

static void test_deaf(void)
{
	pid_t pid = start(spin_deaf);
	struct uspl_err err = { 0 };
	auto_proc struct proc *proc = NULL;
	int rc = proc_open(pid, &proc, &err);
	struct memory memory = find_memory(proc);
	struct inject_req reqs[] = { mapping(&memory), inject_syscall(SYS_getpid, 0, 0, 0) };
	size_t done = 0;

	if (!rc)
		rc = inject_run_mapping(proc, memory.slate, reqs, ARRAY_SIZE(reqs), &done, &err);
	ok(rc == 0 && done == 2 && (taddr)reqs[0].result == memory.map && reqs[1].result == pid,
	   "a thread that blocks all signals does it, too (%s)", err.msg);
	ok(read_word(proc, memory.slate) == 0, "it is led, and says nothing by itself");
	ok(goes_on() && finish(pid) == 0, "it goes on");
}

/* Sends the target's thread to wait for shared->word, and waits for it; to be killed. */
static void send_to_wait(pid_t pid)
{
	auto_proc struct proc *proc = NULL;
	const struct inject_choice choice = { .slate = SLATE };
	struct inject_req req =
		inject_syscall(SYS_futex, (taddr)(uintptr_t)&shared->word, FUTEX_WAIT, 0);
	size_t done;
	int rc = proc_open(pid, &proc, NULL);

	if (!rc)
		rc = inject_run_in(proc, &choice, &req, 1, &done, NULL);
	_exit(rc != 0);
}

/* True once the target's thread waits there, with the agent's signal mask. */
static bool waits_for_word(const struct proc *proc)
{
	int64_t deadline = clock_now_ns() + PATIENCE_NS;

	while (!(thread_blocked_signals(proc, proc->pid) >> (SIGUSR1 - 1) & 1) ||
	       task_state(proc, proc->pid) != 'S')
		if (clock_now_ns() > deadline)
			return false;
	return true;
}

static int unmap_in_time(const struct proc *proc, taddr map, struct uspl_err *err)
{
	int64_t deadline = clock_now_ns() + PATIENCE_NS;
	int rc;

	do
		rc = inject_unmap(proc, map, PAGES * PAGE, err);
	while (rc == -USPL_E_BUSY && clock_now_ns() < deadline);
	return rc;
}

static void test_at_work(void)
{
	pid_t pid = start(spin), tool;
	struct uspl_err err = { 0 };
	auto_proc struct proc *proc = NULL;
	int rc = proc_open(pid, &proc, &err);
	struct memory memory = find_memory(proc);
	struct inject_req req = mapping(&memory);
	const uint64_t value = VALUE;
	size_t done = 0;

	if (!rc)
		rc = inject_run(proc, &req, 1, &done, &err);
	if (!rc)
		rc = proc_write(proc, memory.map, &value, sizeof(value), &err);
	tool = fork();
	if (!tool)
		send_to_wait(pid);
	ok(rc == 0 && waits_for_word(proc), "a thread is at work for a tool (%s)", err.msg);
	kill(tool, SIGKILL);
	waitpid(tool, NULL, 0);
	ok(inject_unmap(proc, memory.map, PAGES * PAGE, &err) == -USPL_E_BUSY,
	   "which dies: nothing is unmapped (%s)", err.msg);
	ok(read_word(proc, memory.map) == VALUE, "the memory is there");
	shared->word = 1;
	syscall(SYS_futex, &shared->word, FUTEX_WAKE, 1, NULL, NULL, 0);
	ok(unmap_in_time(proc, memory.map, &err) == 0,
	   "when the thread has come back it is unmapped");
	ok(read_word(proc, memory.map) == 0, "and gone");
	ok(goes_on() && finish(pid) == 0, "the thread has its own state");
}

int main(void)
{
	share();
	test_mapped();
	test_fails_later();
	test_fails_at_first();
	test_deaf();
	test_at_work();
	return tap_done();
}
