// SPDX-License-Identifier: GPL-3.0-or-later
// child_follow.c - a program that is run to have its functions traced: when they may be, and its
// last moment
/*
 * Functions can be traced when the first thread has its thread pointer and its id (the tracer's
 * code uses both), and from outside only while no other tool holds the process. Behind that glibc
 * asks for the stack's limit, when the dynamic linker has put all libraries in place and lets libc
 * set itself up (__libc_early_init, since 2.32; since 2.43 malloc is part of it), or lets go of
 * ld.so.cache. No constructor has run then. Back in the dynamic linker the program is left stopped,
 * as by SIGSTOP, which the tracer finds as it finds any stopped process.
 *
 * Records are in the process's memory and go with it, so it is held again, for its end: each thread
 * stops once more when it exits, and the thread that takes the process with it shows what there is.
 * Nothing else stops for it, but signals come by way of us.
 *
 * What is done in it meanwhile (libraries that it has opened) needs threads that no tool holds. So
 * they are held by a thread of ours, and when that ends the kernel lets them go, without a stop.
 */

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include <linux/ptrace.h>

#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "proc/maps.h"
#include "proc/task.h"
#include "thread/tracer_thread.h"
#include "trace/tracers/child.h"

#define SIGNAL_STATUS 128
#define SYSCALL_STOP (SIGTRAP | 0x80)
/* Of an exit's message: the signal that ended it. */
#define SIGNAL_MASK 0x7f
/* About a thousand were seen (glibc 2.36). */
#define STEPS_MAX 200000

/* The code of the dynamic linker. */
struct linker {
	taddr start, end;
};

/* False: there is none of glibc's. */
static bool find_linker(pid_t pid, struct linker *ret)
{
	auto_buf struct buf text = { 0 };
	auto_mappings mapping_vec maps = { 0 };
	const struct mapping *map;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	if (file_read(path, &text, NULL) || mappings_parse(buf_str(&text), &maps, NULL))
		return false;
	vec_for_each (&maps, map)
		if (map->exec && (strstr(map->path, "/ld-linux") || strstr(map->path, "/ld-2."))) {
			*ret = (struct linker){ map->start, map->end };
			return true;
		}
	return false;
}

/* A system call that has returned: true if it is the one behind which all is in place. */
static bool is_ready(const struct child_stop *stop, bool *settled)
{
	if (stop->nr == SYS_set_tid_address)
		*settled = true;
	return *settled && (stop->nr == SYS_munmap ||
			    (stop->nr == SYS_prlimit64 && stop->args[1] == RLIMIT_STACK));
}

static int fail_ended(struct child *child, struct uspl_err *err)
{
	child->pid = 0;
	return uspl_fail(err, USPL_E_UNSUPPORTED, "the program ended before it had begun");
}

/*
 * libc sets itself up: until it returns to the dynamic linker. It calls that one as well, and what
 * it calls then has a return into libc in front of it.
 */
static int leave_libc(struct child *child, const struct linker *linker, struct uspl_err *err)
{
	struct user_regs_struct regs;
	bool returns = false, outside = true;
	int inner = 0, sig = 0;

	for (int i = 0; i < STEPS_MAX; i++) {
		bool was_outside = outside;
		uint8_t opcode;
		int status;

		if (ptrace(PTRACE_GETREGS, child->pid, NULL, &regs) != 0)
			return uspl_fail_errno(err, "cannot read the registers of pid %d",
					       child->pid);
		outside = regs.rip < linker->start || regs.rip >= linker->end;
		/* It may have been there all the time: behind ld.so.cache. */
		if (!outside && (!i || (was_outside && returns && !inner)))
			return 0;
		if (was_outside != outside && returns == outside)
			inner += outside ? -1 : 1;
		opcode = (uint8_t)ptrace(PTRACE_PEEKTEXT, child->pid, regs.rip, NULL);
		returns = opcode == 0xc3;
		if (ptrace(PTRACE_SINGLESTEP, child->pid, NULL, sig) != 0 ||
		    waitpid(child->pid, &status, 0) < 0)
			return uspl_fail_errno(err, "cannot run pid %d", child->pid);
		if (!WIFSTOPPED(status))
			return fail_ended(child, err);
		sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	}
	return uspl_fail(err, USPL_E_UNSUPPORTED, "libc isn't set up within %d instructions",
			 STEPS_MAX);
}

/* What the kernel says of the call at which the child stands; of a return it says less. */
static bool read_stop(pid_t pid, struct child_stop *stop)
{
	struct __ptrace_syscall_info info = { 0 };

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) <= 0)
		return false;
	stop->returned = info.op == PTRACE_SYSCALL_INFO_EXIT;
	if (stop->returned)
		stop->result = info.exit.rval;
	else if (info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return false;
	else
		stop->nr = info.entry.nr;
	for (size_t i = 0; !stop->returned && i < ARRAY_SIZE(stop->args); i++)
		stop->args[i] = info.entry.args[i];
	return true;
}

/* From call to call. */
static int run_until_ready(struct child *child, const struct linker *linker,
			   const struct child_listener *listener, struct uspl_err *err)
{
	struct child_stop stop = { 0 };
	bool settled = false;
	int status, sig = 0;

	for (;;) {
		int64_t start_ns = clock_now_ns();

		if (ptrace(PTRACE_SYSCALL, child->pid, NULL, sig) != 0 ||
		    waitpid(child->pid, &status, 0) < 0)
			return uspl_fail_errno(err, "cannot run pid %d", child->pid);
		stop.ran_ns = clock_now_ns() - start_ns;
		if (!WIFSTOPPED(status))
			return fail_ended(child, err);
		sig = WSTOPSIG(status) == SYSCALL_STOP ? 0 : WSTOPSIG(status);
		if (sig || !read_stop(child->pid, &stop))
			continue;
		if (listener)
			listener->stop(listener->ctx, &stop);
		if (stop.returned && is_ready(&stop, &settled))
			return leave_libc(child, linker, err);
	}
}

int child_ready(struct child *child, const struct child_listener *listener, struct uspl_err *err)
{
	struct linker linker;
	int rc, status;

	if (!find_linker(child->pid, &linker))
		return uspl_fail(
			err, USPL_E_UNSUPPORTED,
			"functions are traced from the beginning on in dynamic programs with "
			"glibc only");
	if (ptrace(PTRACE_SETOPTIONS, child->pid, NULL,
		   PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD) != 0)
		return uspl_fail_errno(err, "cannot hold pid %d", child->pid);
	rc = run_until_ready(child, &linker, listener, err);
	if (rc)
		return rc;
	if (ptrace(PTRACE_DETACH, child->pid, NULL, SIGSTOP) != 0 ||
	    waitpid(child->pid, &status, WUNTRACED) < 0)
		return uspl_fail_errno(err, "cannot stop pid %d", child->pid);
	if (!WIFSTOPPED(status))
		return fail_ended(child, err);
	child->is_ready = true;
	return 0;
}

/* A child that is followed to its end. */
struct follow {
	struct child *child;
	const struct child_events *events;
	bool is_over;   /* at_end has been called */
	bool has_work;  /* it is to be let go for a moment */
	bool was_loose; /* it has been let go: its end may have come then */
	int status;     /* of the child, when it has ended */
	int rc;         /* what at_end has returned */
};

/*
 * True if the process ends with this thread, which stands at its exit: by a signal, or since it is
 * the last one, or since it hasn't asked to end by itself alone. A thread that another one's
 * exit_group takes along may come here before that one does, and the first thread had better not go
 * on then: the process's memory is looked at by way of it.
 */
static bool takes_all(pid_t pid, pid_t tid)
{
	auto_buf struct buf call = { 0 };
	unsigned long code = 0;
	struct stat task;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	if (stat(path, &task) != 0 || tasks_linked(&task) <= 1 ||
	    (ptrace(PTRACE_GETEVENTMSG, tid, NULL, &code) == 0 && (code & SIGNAL_MASK)))
		return true;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, tid);
	return file_read(path, &call, NULL) == 0 && atol(buf_str(&call)) != SYS_exit;
}

static int say_end(struct follow *follow, struct uspl_err *err)
{
	if (follow->is_over)
		return follow->rc;
	follow->is_over = true;
	follow->rc = follow->events->at_end(follow->events->ctx, follow->child->pid, err);
	return follow->rc;
}

/* A thread has stopped: it goes on as it would without us. */
static void take_stop(struct follow *follow, pid_t tid, int status, struct uspl_err *err)
{
	int event = status >> 16, sig = WSTOPSIG(status);

	if (event == PTRACE_EVENT_EXIT && !follow->is_over && takes_all(follow->child->pid, tid))
		(void)say_end(follow, err);
	/* It may have been killed meanwhile, and then says so. */
	if (event == PTRACE_EVENT_STOP &&
	    (sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU))
		(void)ptrace(PTRACE_LISTEN, tid, NULL, NULL);
	else
		(void)ptrace(PTRACE_CONT, tid, NULL, event ? 0 : sig);
}

/*
 * Holds all threads; those that they make are held with them. Returns how many: some may be held
 * already, or be at their end.
 */
static size_t seize_all(pid_t pid)
{
	char path[32];
	size_t all = 0, n;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	/* Until there are no more that were made meanwhile, by threads that weren't held yet. */
	do {
		auto_closedir DIR *dir = opendir(path);
		const struct dirent *entry;

		n = 0;
		while (dir && (entry = readdir(dir)))
			n += entry->d_name[0] != '.' &&
			     ptrace(PTRACE_SEIZE, atoi(entry->d_name), NULL,
				    PTRACE_O_TRACEEXIT | PTRACE_O_TRACECLONE) == 0;
		all += n;
	} while (n);
	return all;
}

/* Waits for news of threads, or until it is time to look whether there is work. */
static void await_news(const struct child_events *events)
{
	int ms = events->look_ms ? events->look_ms(events->ctx) : 0;
	const struct timespec pause = { ms / 1000, ms % 1000 * 1000000l };
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigtimedwait(&child, NULL, events->look_ms ? &pause : NULL);
}

/* In a thread of its own, whose end lets the child's threads go without a stop. */
static int follow_for_a_while(void *ctx, struct uspl_err *err)
{
	struct follow *follow = ctx;
	const struct child_events *events = follow->events;
	struct child *child = follow->child;
	sigset_t mask;
	int status;
	size_t n;

	/* What keys send is for this thread: it notes ^C, and stops with all of the tool. */
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	n = seize_all(child->pid);
	if (!child->is_free) {
		if (!n)
			return uspl_fail_errno(err, "cannot follow pid %d", child->pid);
		child->is_free = true;
		kill(child->pid, SIGCONT);
	}
	for (;;) {
		pid_t tid = waitpid(-1, &status, __WALL | WNOHANG);

		if (tid < 0 || (!tid && cancel_requested()))
			return say_end(follow, err);
		if (!tid && events->look_ms && events->has_work(events->ctx)) {
			follow->has_work = true;
			return follow->rc;
		}
		if (!tid)
			await_news(events);
		else if (WIFSTOPPED(status))
			take_stop(follow, tid, status, err);
		else if (tid == child->pid)
			break;
	}
	follow->status =
		WIFSIGNALED(status) ? SIGNAL_STATUS + WTERMSIG(status) : WEXITSTATUS(status);
	return follow->was_loose ? say_end(follow, err) : follow->rc;
}

int child_follow(struct child *child, const struct child_events *events, struct uspl_err *err)
{
	struct follow follow = { .child = child, .events = events };
	int rc;

	for (;;) {
		follow.has_work = false;
		rc = tracer_run(follow_for_a_while, &follow, err);
		if (rc || !follow.has_work)
			break;
		events->work(events->ctx);
		follow.was_loose = true;
	}
	if (rc)
		return rc;
	return follow.status;
}
