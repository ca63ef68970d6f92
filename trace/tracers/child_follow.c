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
 */

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <linux/ptrace.h>

#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
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
	auto_buf struct buf maps = { 0 };
	char path[32], *rest, *line;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	if (file_read(path, &maps, NULL) != 0)
		return false;
	for (line = strtok_r(maps.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char rights[5];

		if ((strstr(line, "/ld-linux") || strstr(line, "/ld-2.")) &&
		    sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &ret->start, &ret->end, rights) ==
			    3 &&
		    rights[2] == 'x')
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
	pid_t pid;
	int threads; /* that live */
	bool is_over;
	int (*at_end)(void *ctx, pid_t pid, struct uspl_err *err);
	void *ctx;
};

/*
 * True if the process ends with this thread, which stands at its exit: by a signal, or since it is
 * the last one, or since it hasn't asked to end by itself alone. A thread that another one's
 * exit_group takes along may come here before that one does, and the first thread had better not go
 * on then: the process's memory is looked at by way of it.
 */
static bool takes_all(const struct follow *follow, pid_t tid)
{
	auto_buf struct buf call = { 0 };
	unsigned long code = 0;
	char path[64];

	if (follow->threads <= 1 ||
	    (ptrace(PTRACE_GETEVENTMSG, tid, NULL, &code) == 0 && (code & SIGNAL_MASK)))
		return true;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", follow->pid, tid);
	return file_read(path, &call, NULL) == 0 && atol(buf_str(&call)) != SYS_exit;
}

static bool is_group_stop(int sig)
{
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

/* A thread has stopped: it goes on as it would without us. */
static int take_stop(struct follow *follow, pid_t tid, int status, struct uspl_err *err)
{
	int event = status >> 16, sig = WSTOPSIG(status), rc = 0;

	if (event == PTRACE_EVENT_CLONE)
		follow->threads++;
	if (event == PTRACE_EVENT_EXIT && !follow->is_over && takes_all(follow, tid)) {
		follow->is_over = true;
		rc = follow->at_end(follow->ctx, follow->pid, err);
	}
	/* It may have been killed meanwhile, and then says so. */
	if (event == PTRACE_EVENT_STOP && is_group_stop(sig))
		(void)ptrace(PTRACE_LISTEN, tid, NULL, NULL);
	else
		(void)ptrace(PTRACE_CONT, tid, NULL, event ? 0 : sig);
	return rc;
}

static int status_of(int status)
{
	return WIFSIGNALED(status) ? SIGNAL_STATUS + WTERMSIG(status) : WEXITSTATUS(status);
}

int child_follow(struct child *child, int (*at_end)(void *ctx, pid_t pid, struct uspl_err *err),
		 void *ctx, struct uspl_err *err)
{
	struct follow follow = { child->pid, 1, false, at_end, ctx };
	int status, rc = 0;

	if (ptrace(PTRACE_SEIZE, child->pid, NULL, PTRACE_O_TRACEEXIT | PTRACE_O_TRACECLONE) != 0)
		return uspl_fail_errno(err, "cannot follow pid %d", child->pid);
	child->is_free = true;
	kill(child->pid, SIGCONT);
	for (;;) {
		pid_t tid = waitpid(-1, &status, __WALL);

		if (tid < 0 && errno == EINTR && !cancel_requested())
			continue;
		if (tid < 0) {
			if (rc)
				return rc;
			return at_end(ctx, child->pid, err);
		}
		if (WIFSTOPPED(status)) {
			int failed = take_stop(&follow, tid, status, err);

			rc = rc ? rc : failed;
			continue;
		}
		follow.threads--;
		if (tid == child->pid) {
			if (rc)
				return rc;
			return status_of(status);
		}
	}
}
