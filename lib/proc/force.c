// SPDX-License-Identifier: GPL-3.0-or-later
// force.c - writes through protections where the kernel doesn't let every writer of /proc/PID/mem
// do that
/*
 * Linux 6.12 has a setting (proc_mem.force_override, or how the kernel was configured;
 * fs/proc/base.c, proc_mem_foll_force): /proc/PID/task/TID/mem writes through protections for every
 * program that may open it, as it always did, or only for the tracer of TID, or never.
 * PTRACE_POKEDATA still does, to a thread that stands still.
 *
 *   1. A thread that we have stopped: PTRACE_POKEDATA. A thread that we have attached to is stopped
 *      for it.
 *   2. Else a thread of ours attaches to one of the process, which doesn't stop it, and writes to
 *      its /proc file; then ours ends, and the kernel detaches the other one, again without a stop
 *      (exit_ptrace).
 *   3. Where that isn't enough, ours stops the other one, and writes by PTRACE_POKEDATA.
 *
 * Only words whose bytes change are poked, whole and aligned. Whatever the kernel does with a word,
 * it writes the bytes that don't change with what they have.
 */

#include "proc/force.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "arch/regs.h"
#include "base/clock.h"
#include "base/log.h"
#include "proc/task.h"

#define WORD sizeof(long)
/* For a thread to stop, and for the kernel to detach one, at least. */
#define LIMIT_NS 1000000000ll
#define QUICK_LOOKS 200
#define PAUSE_NS 50000

struct piece {
	const struct proc *proc;
	taddr addr;
	const uint8_t *bytes;
	size_t len;
};

/* Writes by a thread that stands still. False if it doesn't, or isn't ours. */
static bool poke(const struct piece *piece, pid_t tid)
{
	taddr end = piece->addr + piece->len;

	for (taddr at = piece->addr & ~(WORD - 1); at < end; at += WORD) {
		long have, want;

		/* The library's function takes an address of the target's for one of ours. */
		errno = 0;
		have = ptrace(PTRACE_PEEKDATA, tid, (void *)(uintptr_t)at, NULL);
		if (errno)
			return false;
		want = have;
		for (size_t i = 0; i < WORD; i++)
			if (at + i >= piece->addr && at + i < end)
				((uint8_t *)&want)[i] = piece->bytes[at + i - piece->addr];
		if (want != have &&
		    ptrace(PTRACE_POKEDATA, tid, (void *)(uintptr_t)at, (void *)want) != 0)
			return false;
	}
	return true;
}

/* Writes to the /proc file of a thread that is attached to. */
static bool write_file(const struct piece *piece, pid_t tid)
{
	char path[64];
	auto_close int fd = -1;
	size_t done = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/mem", piece->proc->pid, tid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	while (fd >= 0 && done < piece->len) {
		ssize_t put = pwrite(fd, piece->bytes + done, piece->len - done,
				     (off_t)(piece->addr + done));

		if (put <= 0)
			return false;
		done += (size_t)put;
	}
	return fd >= 0;
}

static void pause_after(int look)
{
	static const struct timespec pause = { 0, PAUSE_NS };

	if (look < QUICK_LOOKS)
		sched_yield();
	else
		nanosleep(&pause, NULL);
}

/* Waits for a stop; its status, or -1. */
static int await_stop(const struct proc *proc, pid_t tid)
{
	int64_t deadline = proc_deadline(proc, LIMIT_NS);
	int status = -1;

	for (int look = 0; clock_now_ns() < deadline; look++) {
		pid_t got = waitpid(tid, &status, __WALL | WNOHANG);

		if (got)
			return got == tid && WIFSTOPPED(status) ? status : -1;
		pause_after(look);
	}
	return -1;
}

static bool go_on(pid_t tid, int status, bool detach)
{
	bool group_stopped = status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP;
	long signal = status >> 16 ? 0 : WSTOPSIG(status);

	return ptrace(detach          ? PTRACE_DETACH
		      : group_stopped ? PTRACE_LISTEN
				      : PTRACE_CONT,
		      tid, NULL, (void *)signal) == 0;
}

/*
 * Stops the thread that we are attached to, and lets it go on as if nothing had happened. False
 * also if we aren't attached to it.
 */
static bool poke_in_stop(const struct piece *piece, pid_t tid, bool detach)
{
	struct arch_regs regs;
	int status =
		ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0 ? await_stop(piece->proc, tid) : -1;
	bool written, mended;

	if (status < 0)
		return false;
	mended = ptrace(PTRACE_GETREGS, tid, NULL, &regs.user) == 0 &&
		 (!regs_hide_interruption(&regs) ||
		  ptrace(PTRACE_SETREGS, tid, NULL, &regs.user) == 0);
	written = poke(piece, tid);
	if (!go_on(tid, status, detach) || !mended)
		log_info("memory", "a call of thread %d may be interrupted", tid);
	return written;
}

struct helper {
	const struct piece *piece;
	const tid_vec *tids;
	enum task_rank rank; /* of the threads to be tried */
	pid_t self;
	bool written;
};

static void *help(void *arg)
{
	struct helper *helper = arg;
	const pid_t *tid;

	helper->self = (pid_t)syscall(SYS_gettid);
	vec_for_each (helper->tids, tid) {
		if (task_rank(helper->piece->proc, *tid) != helper->rank ||
		    ptrace(PTRACE_SEIZE, *tid, NULL, NULL) != 0)
			continue;
		helper->written =
			write_file(helper->piece, *tid) || poke_in_stop(helper->piece, *tid, true);
		if (helper->written)
			break;
	}
	return NULL;
}

static bool is_traced_by(const struct proc *proc, pid_t tid, pid_t tracer)
{
	auto_buf struct buf text = { 0 };
	const char *field =
		task_status(proc, tid, &text) ? task_status_field(&text, "TracerPid") : NULL;

	return field && atol(field) == tracer;
}

/* pthread_join comes back before the kernel has detached what the thread was attached to. */
static void await_detached(const struct helper *helper)
{
	const struct proc *proc = helper->piece->proc;
	int64_t deadline = proc_deadline(proc, LIMIT_NS);
	const pid_t *tid;

	vec_for_each (helper->tids, tid)
		for (int look = 0; is_traced_by(proc, *tid, helper->self); look++) {
			if (clock_now_ns() > deadline)
				return;
			pause_after(look);
		}
}

static bool write_attached(const struct piece *piece, const tid_vec *tids)
{
	struct helper helper = { .piece = piece, .tids = tids };

	/* If a thread has to be stopped, one that doesn't notice is best. */
	for (int rank = 0; rank < TASK_RANKS && !helper.written; rank++) {
		pthread_t thread;

		helper.rank = (enum task_rank)rank;
		if (pthread_create(&thread, NULL, help, &helper) != 0)
			return false;
		pthread_join(thread, NULL);
		await_detached(&helper);
	}
	return helper.written;
}

bool force_write(const struct proc *proc, taddr addr, const void *buf, size_t len)
{
	const struct piece piece = { proc, addr, buf, len };
	tid_vec tids = { 0 };
	const pid_t *tid;
	sigset_t all, old;
	bool written = false;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	if (tasks_list(proc, &tids, NULL) == 0) {
		/* By a thread that stands still; by one that the tool is attached to; by any. */
		vec_for_each (&tids, tid)
			written = written || poke(&piece, *tid);
		vec_for_each (&tids, tid)
			written = written || poke_in_stop(&piece, *tid, false);
		written = written || write_attached(&piece, &tids);
	}
	vec_release(&tids);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return written;
}

bool force_is_free(void)
{
	uint8_t *page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	auto_close int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	bool is_free =
		page == MAP_FAILED || fd < 0 || pwrite(fd, "", 1, (off_t)(uintptr_t)page) == 1;

	if (page != MAP_FAILED)
		munmap(page, PAGE);
	return is_free;
}
