// SPDX-License-Identifier: GPL-3.0-or-later
// inject_map_test.c - memory that a running target maps on our behalf, and answers in; and takes
// away, unless somebody is at work there

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

/* Memory of the target: some pages, with the result page in the last but one. */
struct memory {
	taddr map, result_page;
};

/* What a test has to do with. */
struct setting {
	pid_t pid;
	struct proc *proc;
	struct memory memory;
	struct uspl_err err;
	size_t done;
	int rc;
};

static struct setting begin(void (*body)(void))
{
	struct setting setting = { .pid = start(body) };
	taddr map;

	setting.rc = proc_open(setting.pid, &setting.proc, &setting.err);
	if (setting.rc)
		return setting;
	map = mappings_find_wide(&setting.proc->maps, PAGES * PAGE);
	setting.memory = (struct memory){ map, map + (PAGES - 2) * PAGE };
	return setting;
}

static void run_mapping(struct setting *setting, struct inject_req *reqs, size_t n)
{
	if (!setting->rc)
		setting->rc = inject_run_mapping(setting->proc, setting->memory.result_page, reqs,
						 n, &setting->done, &setting->err);
}

static void end(struct setting *setting, const char *what)
{
	ok(goes_on() && finish(setting->pid) == 0, "%s", what);
	proc_free(setting->proc);
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
	struct setting now = begin(spin);
	struct inject_req reqs[] = {
		mapping(&now.memory),
		{ .kind = INJECT_STORE, .what = now.memory.map + PAGE, .args = { VALUE } },
		inject_syscall(SYS_mprotect, now.memory.map + PAGE, PAGE, PROT_READ),
		inject_syscall(SYS_mprotect, now.memory.map, PAGE, PROT_NONE),
	};

	run_mapping(&now, reqs, ARRAY_SIZE(reqs));
	ok(now.rc == 0 && now.done == ARRAY_SIZE(reqs),
	   "memory is mapped, written to, protected (%s)", now.err.msg);
	ok((taddr)reqs[0].result == now.memory.map && reqs[2].result == 0 && reqs[3].result == 0,
	   "each request has its result");
	ok(read_word(now.proc, now.memory.map + PAGE) == VALUE, "what was stored is there");
	ok(read_word(now.proc, now.memory.result_page) == 1,
	   "the thread has said so in the new memory");
	end(&now, "and has its own state");
}

static void test_fails_later(void)
{
	struct setting now = begin(spin);
	struct inject_req reqs[] = {
		mapping(&now.memory),
		inject_syscall(SYS_getpid, 0, 0, 0),
		inject_syscall(SYS_close, 9999, 0, 0),
		inject_syscall(SYS_getpid, 0, 0, 0),
	};

	run_mapping(&now, reqs, ARRAY_SIZE(reqs));
	ok(now.rc == 0 && now.done == 3 && reqs[1].result == now.pid && reqs[2].result == -EBADF &&
		   reqs[3].result == 0,
	   "a call that fails ends the run (%s; %zu done, %ld)", now.err.msg, now.done,
	   (long)reqs[2].result);
	ok(read_word(now.proc, now.memory.result_page) == 3, "and is told of in the new memory");
	end(&now, "the thread has its own state");
}

/* There is no new memory to tell it in. */
static void test_fails_at_first(void)
{
	struct setting now = begin(spin);
	struct inject_req taken = mapping(&now.memory);
	struct inject_req reqs[] = {
		mapping(&now.memory),
		{ .kind = INJECT_STORE, .what = now.memory.map, .args = { 7 } },
	};
	const uint64_t value = VALUE;

	if (!now.rc)
		now.rc = inject_run(now.proc, &taken, 1, &now.done, &now.err);
	if (!now.rc)
		now.rc = proc_write(now.proc, now.memory.result_page, &value, sizeof(value),
				    &now.err);
	run_mapping(&now, reqs, ARRAY_SIZE(reqs));
	ok(now.rc == 0 && now.done == 1 && reqs[0].result == -EEXIST,
	   "where something is mapped it is said (%s; %zu done, %ld)", now.err.msg, now.done,
	   (long)reqs[0].result);
	ok(read_word(now.proc, now.memory.result_page) == VALUE &&
		   read_word(now.proc, now.memory.map) == 0,
	   "and nothing is written there");
	end(&now, "the thread has its own state");
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
	struct setting now = begin(spin_deaf);
	struct inject_req reqs[] = { mapping(&now.memory), inject_syscall(SYS_getpid, 0, 0, 0) };

	run_mapping(&now, reqs, ARRAY_SIZE(reqs));
	ok(now.rc == 0 && now.done == 2 && (taddr)reqs[0].result == now.memory.map &&
		   reqs[1].result == now.pid,
	   "a thread that blocks all signals does it, too (%s)", now.err.msg);
	ok(read_word(now.proc, now.memory.result_page) == 0,
	   "it is led, and says nothing by itself");
	end(&now, "it goes on");
}

/* Sends the target's thread to wait for shared->word, and waits for it; to be killed. */
static void send_to_wait(pid_t pid)
{
	auto_proc struct proc *proc = NULL;
	const struct inject_choice choice = { .result_page = RESULT_PAGE };
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

	while (!(task_blocked_signals(proc, proc->pid) >> (SIGUSR1 - 1) & 1) ||
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
	struct setting now = begin(spin);
	pid_t tool;
	struct inject_req req = mapping(&now.memory);
	const uint64_t value = VALUE;

	if (!now.rc)
		now.rc = inject_run(now.proc, &req, 1, &now.done, &now.err);
	if (!now.rc)
		now.rc = proc_write(now.proc, now.memory.map, &value, sizeof(value), &now.err);
	tool = fork();
	if (!tool)
		send_to_wait(now.pid);
	ok(now.rc == 0 && waits_for_word(now.proc), "a thread is at work for a tool (%s)",
	   now.err.msg);
	kill(tool, SIGKILL);
	waitpid(tool, NULL, 0);
	ok(inject_unmap(now.proc, now.memory.map, PAGES * PAGE, &now.err) == -USPL_E_BUSY,
	   "which dies: nothing is unmapped (%s)", now.err.msg);
	ok(read_word(now.proc, now.memory.map) == VALUE, "the memory is there");
	shared->word = 1;
	syscall(SYS_futex, &shared->word, FUTEX_WAKE, 1, NULL, NULL, 0);
	ok(unmap_in_time(now.proc, now.memory.map, &now.err) == 0,
	   "when the thread has come back it is unmapped");
	ok(read_word(now.proc, now.memory.map) == 0, "and gone");
	end(&now, "the thread has its own state");
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
