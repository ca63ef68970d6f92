// SPDX-License-Identifier: GPL-3.0-or-later
// sharers.c - processes that share their memory with another one without being its threads
/*
 * kcmp(2) says of two processes whether they have the same memory. Asking it of every process of the machine would take
 * milliseconds on a large one, and needn't be: memory is shared with a child only, by clone(2), so that the other one is
 * a child of one of our threads; or our parent; or, by CLONE_PARENT, a child of our parent; or its parent, which had the
 * same memory, has ended, and an ancestor of ours, or init, has taken it over. Parents and children are in /proc
 * (CONFIG_PROC_CHILDREN). Where the kernel doesn't list children all processes are asked.
 */

#include "proc/sharers.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/file.h"
#include "proc/task.h"

#define ANCESTORS_MAX 1000
#define PAUSE_NS 500000

/* What /proc/PID/statm has, which everybody may read: the sizes of all memory and of that which is there. */
static bool has_equal_sizes(pid_t one, pid_t other)
{
	auto_buf struct buf a = { 0 }, b = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/statm", one);
	if (file_read(path, &a, NULL) != 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/statm", other);
	return file_read(path, &b, NULL) == 0 && a.len && !strcmp(buf_str(&a), buf_str(&b));
}

/* Where we may not ask, as of a child that has become another user, it is what both look like. */
static bool shares_memory(const struct proc *proc, pid_t other)
{
	if (syscall(SYS_kcmp, proc->tid, other, KCMP_VM, 0, 0) == 0)
		return true;
	return errno == EPERM && has_equal_sizes(proc->pid, other);
}

/* Of a list of pids with blanks between; 0 if none of them does. */
static pid_t find_listed(const struct proc *proc, const char *list)
{
	char *end;

	for (long pid = strtol(list, &end, 10); end != list; pid = strtol(list, &end, 10)) {
		list = end;
		if (pid != proc->pid && shares_memory(proc, (pid_t)pid))
			return (pid_t)pid;
	}
	return 0;
}

/* Among the children of a process, whichever thread of it is their parent. *ret_known: the kernel lists them. */
static pid_t find_child(const struct proc *proc, pid_t parent, bool *ret_known)
{
	const struct proc of = { .pid = parent, .tid = parent };
	tid_vec tids = { 0 };
	const pid_t *tid;
	pid_t found = 0;

	if (threads_list(&of, &tids, NULL) == 0)
		vec_for_each (&tids, tid) {
			auto_buf struct buf text = { 0 };
			char path[64];

			snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent, *tid);
			if (found || file_read(path, &text, NULL) != 0)
				continue;
			*ret_known = true;
			found = find_listed(proc, buf_str(&text));
		}
	vec_release(&tids);
	return found;
}

static pid_t parent_of(pid_t pid)
{
	const struct proc of = { .pid = pid, .tid = pid };
	auto_buf struct buf text = { 0 };
	const char *parent = thread_stat(&of, pid, 4, &text);

	return parent ? (pid_t)strtol(parent, NULL, 10) : 0;
}

static pid_t find_anywhere(const struct proc *proc)
{
	auto_closedir DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		pid_t pid = (pid_t)atol(entry->d_name);

		if (pid > 0 && pid != proc->pid && shares_memory(proc, pid))
			return pid;
	}
	return 0;
}

/* generations: how many of the ancestors' children are asked, too. */
static pid_t find(const struct proc *proc, int generations)
{
	bool known = false;
	pid_t found = find_child(proc, proc->pid, &known), at;

	if (!known)
		return find_anywhere(proc);
	at = parent_of(proc->pid);
	if (!found && at && shares_memory(proc, at))
		found = at;
	for (int i = 0; !found && at && i < generations; i++, at = parent_of(at))
		found = find_child(proc, at, &known);
	return found;
}

static int refuse(const struct proc *proc, pid_t pid, struct uspl_err *err)
{
	uspl_fail(err, USPL_E_UNSUPPORTED,
		  "pid %d runs in the memory of pid %d without being a thread of it", pid,
		  proc->pid);
	uspl_hint(err, "after vfork() this lasts until the child calls exec; try again");
	return -USPL_E_UNSUPPORTED;
}

int sharers_await(const struct proc *proc, int64_t deadline, struct uspl_err *err)
{
	static const struct timespec pause = { 0, PAUSE_NS };
	pid_t pid;

	while ((pid = find(proc, ANCESTORS_MAX))) {
		if (clock_now_ns() >= deadline || cancel_requested())
			return refuse(proc, pid, err);
		nanosleep(&pause, NULL);
	}
	return 0;
}

/* The last id that was given to a process or thread, in our pid namespace and those in it; -1 if it isn't known. */
static long last_id(void)
{
	auto_close int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	char text[128];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	const char *id;

	if (n <= 0)
		return -1;
	text[n] = '\0';
	id = strrchr(text, ' ');
	return id ? atol(id) : -1;
}

bool sharers_note(const struct proc *proc, struct sharers *sharers)
{
	sharers->last_id = last_id();
	sharers->found = find(proc, ANCESTORS_MAX) != 0;
	return !sharers->found;
}

bool sharers_none_since(const struct proc *proc, struct sharers *sharers)
{
	long id = last_id();

	if (!sharers->found && (id < 0 || id != sharers->last_id))
		sharers->found = find(proc, 1) != 0;
	return !sharers->found;
}
