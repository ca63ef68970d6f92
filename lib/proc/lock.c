// SPDX-License-Identifier: GPL-3.0-or-later
// lock.c - one tool at a time changes a process
/*
 * The lock lies on /proc/PID/mem, which every tool has open: it needs no file of its own, is gone
 * with the tool, and is the same one in every name space. An inode of /proc lives as long as
 * somebody has it open (unless an administrator drops the kernel's caches in that very moment).
 */

#include "proc/lock.h"

#include <errno.h>
#include <sys/file.h>
#include <time.h>

#include "base/cancel.h"
#include "proc/thread.h"

/* The kernel doesn't wait for such a lock with a deadline. */
#define LOOK_NS 10000000

static int wait_for_lock(const struct proc *proc, int64_t deadline, struct uspl_err *err)
{
	while (flock(proc->mem_fd, LOCK_EX | LOCK_NB) != 0) {
		struct timespec pause = { .tv_nsec = LOOK_NS };

		if (errno != EWOULDBLOCK)
			return uspl_fail_errno(err, "cannot lock pid %d", proc->pid);
		if (cancel_requested())
			return uspl_fail(err, USPL_E_CANCELLED,
					 "interrupted while another uspl was at work on pid %d",
					 proc->pid);
		if (clock_now_ns() >= deadline) {
			uspl_fail(err, USPL_E_BUSY, "another uspl is at work on pid %d", proc->pid);
			uspl_hint(err, "wait longer for it with --wait=SECONDS");
			return -USPL_E_BUSY;
		}
		nanosleep(&pause, NULL);
	}
	return 0;
}

int proc_open_locked(pid_t pid, int64_t deadline, struct proc **ret, struct uspl_err *err)
{
	auto_proc struct proc *locked = NULL;
	int rc;

	/* What can't even be read is what proc_open has a message for. */
	if (proc_open_readonly(pid, &locked, NULL) != 0)
		return proc_open(pid, ret, err);
	rc = wait_for_lock(locked, deadline, err);
	/* Only now: while the other one is at work, it traces the process. */
	if (!rc)
		rc = proc_open(pid, ret, err);
	if (!rc)
		(*ret)->lock_fd = take_fd(locked->mem_fd);
	return rc;
}
