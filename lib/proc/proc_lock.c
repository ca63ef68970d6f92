// SPDX-License-Identifier: GPL-3.0-or-later
// proc_lock.c - one tool at a time changes a process
/*
 * The locks (flock) need no file of their own and are gone with the tool. /proc/PID/mem, which
 * every tool has open, is one only for tools that see the same mount of /proc: each mount has
 * inodes of its own, so a tool in a container and one outside of it don't meet there. They meet at
 * the process's pidfd, whose inode is the process, whatever name space it is looked at from: Linux
 * 6.9 and later (pidfs). Before that, at the /proc in the process's own root folder, if there is
 * one.
 *
 * An inode of /proc lives as long as a process has it open (unless an administrator drops the
 * kernel's caches in that very moment).
 */

#include "proc/kept.h"
#include "proc/memcg.h"
#include "proc/proc_lock.h"

#include <errno.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <time.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "proc/ending.h"
#include "proc/heap.h"
#include "proc/task.h"

/* The kernel doesn't wait for such a lock with a deadline. */
#define LOOK_NS 10000000
/* Linux PID_FS_MAGIC, which older headers lack. */
#define PIDFS 0x50494446

static bool is_on(int fd, long file_system)
{
	struct statfs fs;

	return fd >= 0 && fstatfs(fd, &fs) == 0 && fs.f_type == file_system;
}

/* The process as an inode; -1 where the kernel has none. */
static int open_pidfd(const struct proc *proc)
{
	auto_close int fd = -1;

	return ending_open(proc->pid, &fd, NULL) == 0 && is_on(fd, PIDFS) ? take_fd(fd) : -1;
}

/*
 * What the process itself would see as its memory; -1 if it has no /proc. The process may have put
 * anything there: only a file of /proc is opened. If that is another process's after all, one tool
 * waits without need.
 */
static int open_inner(const struct proc *proc)
{
	auto_close int dir = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root/proc", proc_task(proc));
	dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (!is_on(dir, PROC_SUPER_MAGIC))
		return -1;
	snprintf(path, sizeof(path), "%d/mem", task_inner_id(proc, proc->pid));
	return openat(dir, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

/* Both or neither; errno says why not. */
static bool lock_all(const int *fds)
{
	for (int i = 0; i < PROC_LOCKS; i++) {
		if (fds[i] < 0 || flock(fds[i], LOCK_EX | LOCK_NB) == 0)
			continue;
		for (int cause = errno; i-- > 0; errno = cause)
			if (fds[i] >= 0)
				flock(fds[i], LOCK_UN);
		return false;
	}
	return true;
}

static int wait_for_locks(const struct proc *proc, int64_t deadline, struct uspl_err *err)
{
	while (!lock_all(proc->lock_fds)) {
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

	heap_populate();
	/* For a process that can't even be read, proc_open has a message. */
	if (proc_open_readonly(pid, &locked, NULL) != 0)
		return proc_open(pid, ret, err);
	locked->lock_fds[0] = open_pidfd(locked);
	if (locked->lock_fds[0] < 0)
		locked->lock_fds[0] = open_inner(locked);
	locked->lock_fds[1] = take_fd(locked->mem_fd);
	rc = wait_for_locks(locked, deadline, err);
	if (rc)
		return rc;
	/* Only now: while another tool is at work, it traces the process. */
	rc = proc_open(pid, ret, err);
	if (rc)
		return rc;
	rc = memcg_refuse_frozen(*ret, err);
	if (rc) {
		proc_free(*ret);
		*ret = NULL;
		return rc;
	}
	for (int i = 0; i < PROC_LOCKS; i++)
		(*ret)->lock_fds[i] = take_fd(locked->lock_fds[i]);
	(*ret)->wait_until_ns = deadline;
	/* Without memory for it everything is read each time. */
	(*ret)->kept = calloc(1, sizeof(*(*ret)->kept));
	return 0;
}

bool proc_is_locked(const struct proc *proc)
{
	if (flock(proc->mem_fd, LOCK_SH | LOCK_NB) != 0)
		return errno == EWOULDBLOCK;
	flock(proc->mem_fd, LOCK_UN);
	return false;
}
