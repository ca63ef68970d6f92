// SPDX-License-Identifier: GPL-3.0-or-later
// vm_sharers.c - processes that share their memory with another one without being its threads
/*
 * kcmp(2) says of two processes whether they have the same memory. To ask for every process of a
 * large machine would take milliseconds, and is mostly not needed: a process that has called exec
 * got a memory of its own then, and shares it only with what clone(2) has made since. That is a
 * child of one of its threads; or, by CLONE_PARENT, a child of its parent; or its parent has ended,
 * and an ancestor of the process, or init, has taken it over. Parents and children are in /proc
 * (CONFIG_PROC_CHILDREN). A process that has never called exec may have been born in its memory,
 * and the process that made it may have ended: then the kernel is asked about all processes, and
 * also where it lists no children.
 *
 * That is done once. From then on only those that were found come into question, and what was born
 * since. The kernel gives out ids in rising order (alloc_pid in kernel/pid.c), and begins anew
 * behind the highest (kernel.pid_max): each id between the last one of then and the last one of now
 * is asked about, whatever its parent is; if ids have begun anew in between, all are looked for
 * again.
 */

#include "thread/vm_sharers.h"

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
/* More births than that, and to look among the relatives is faster. */
#define BORN_MAX 1000
/* More than are born at the same moment. */
#define BIRTHS 64
/* Ids can't have gone all the way round by then: there are 32768 or more (kernel.pid_max). */
#define AGE_MAX_NS 100000000ll

/*
 * By what /proc/PID/statm has, which every user may read: the sizes of all memory and of that which
 * is there.
 */
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

/* Notes the process if it shares the memory. */
static void see(struct vm_sharers *vm_sharers, const struct proc *proc, pid_t pid)
{
	char path[64];

	if (pid <= 0 || pid == proc->pid || vm_sharers->n_seen == VM_SHARERS_MAX)
		return;
	/* Where the tool may not ask, as of a child that has become another user, sizes decide. */
	if (syscall(SYS_kcmp, proc_task(proc), pid, KCMP_VM, 0, 0) != 0 &&
	    (errno != EPERM || !has_equal_sizes(proc->pid, pid)))
		return;
	/* Threads of the process itself share its memory, too. */
	snprintf(path, sizeof(path), "/proc/%d/task/%d", proc->pid, pid);
	if (access(path, F_OK) != 0)
		vm_sharers->seen[vm_sharers->n_seen++] = pid;
}

/*
 * Looks among the children of a process, whichever thread of it is their parent. *ret_known: the
 * kernel lists them.
 */
static void find_children(struct vm_sharers *vm_sharers, const struct proc *proc, pid_t parent,
			  bool *ret_known)
{
	const struct proc of = { .pid = parent, .tid = parent };
	auto_vec tid_vec tids = { 0 };
	const pid_t *tid;

	if (tasks_list(&of, &tids, NULL) != 0)
		return;
	vec_for_each (&tids, tid) {
		auto_buf struct buf text = { 0 };
		const char *list;
		char path[64], *end;

		snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent, *tid);
		if (file_read(path, &text, NULL) != 0)
			continue;
		*ret_known = true;
		/* Pids with blanks between. */
		list = buf_str(&text);
		for (long pid = strtol(list, &end, 10); end != list; pid = strtol(list, &end, 10)) {
			list = end;
			see(vm_sharers, proc, (pid_t)pid);
		}
	}
}

static pid_t parent_of(pid_t pid)
{
	const struct proc of = { .pid = pid, .tid = pid };
	auto_buf struct buf text = { 0 };
	const char *parent = task_stat(&of, pid, 4, &text);

	return parent ? (pid_t)strtol(parent, NULL, 10) : 0;
}

/*
 * True if it has never called exec (PF_FORKNOEXEC, 0x40, among the flags in proc(5)'s stat): then
 * it may have been born in a memory whose other users are no relatives of it any more.
 */
static bool is_born_in_memory(const struct proc *proc)
{
	auto_buf struct buf text = { 0 };
	const char *flags = task_stat(proc, proc->pid, 9, &text);

	return !flags || strtoul(flags, NULL, 10) & 0x40;
}

static void find_all(struct vm_sharers *vm_sharers, const struct proc *proc)
{
	auto_closedir DIR *dir = NULL;
	const struct dirent *entry;
	bool known = false;
	pid_t at = parent_of(proc->pid);

	find_children(vm_sharers, proc, proc->pid, &known);
	if (!known || is_born_in_memory(proc)) {
		vm_sharers->n_seen = 0;
		dir = opendir("/proc");
		while (dir && (entry = readdir(dir)))
			see(vm_sharers, proc, (pid_t)atol(entry->d_name));
		return;
	}
	for (int i = 0; at && i < ANCESTORS_MAX; i++, at = parent_of(at))
		find_children(vm_sharers, proc, at, &known);
}

/*
 * The last id that was given to a process or thread, in the tool's pid namespace and those in it;
 * -1 if it isn't known.
 */
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

bool vm_sharers_none_since(const struct proc *proc, struct vm_sharers *vm_sharers)
{
	long since = vm_sharers->last_id, now = last_id();
	int64_t before_ns = vm_sharers->looked_ns;
	size_t n = vm_sharers->n_seen;

	/* Before they are looked for: what is born meanwhile is asked about the next time. */
	vm_sharers->last_id = now;
	vm_sharers->looked_ns = clock_now_ns();
	if (vm_sharers->known && vm_sharers->looked_ns - before_ns <= AGE_MAX_NS && now >= since &&
	    now - since <= BORN_MAX) {
		/* Those that were seen and still share it, and those that were born since. */
		vm_sharers->n_seen = 0;
		for (size_t i = 0; i < n; i++)
			if (vm_sharers->seen[i] <= since || vm_sharers->seen[i] > now)
				see(vm_sharers, proc, vm_sharers->seen[i]);
		for (long id = since + 1; id <= now; id++)
			see(vm_sharers, proc, (pid_t)id);
	} else {
		vm_sharers->n_seen = 0;
		find_all(vm_sharers, proc);
		/* So are, once, those that have an id by now, but weren't there yet. */
		vm_sharers->last_id = now - BIRTHS;
	}
	/* Where ids have just begun anew, some of these are among the highest. */
	vm_sharers->known = vm_sharers->n_seen < VM_SHARERS_MAX && vm_sharers->last_id > 0;
	vm_sharers->found = vm_sharers->n_seen ? vm_sharers->seen[0] : 0;
	return !vm_sharers->found;
}

int vm_sharers_await(const struct proc *proc, struct vm_sharers *vm_sharers, int64_t deadline,
		     struct uspl_err *err)
{
	static const struct timespec pause = { 0, PAUSE_NS };

	while (!vm_sharers_none_since(proc, vm_sharers)) {
		if (clock_now_ns() >= deadline || cancel_requested()) {
			uspl_fail(err, USPL_E_UNSUPPORTED,
				  "pid %d runs in the memory of pid %d without being a thread of "
				  "it",
				  vm_sharers->found, proc->pid);
			uspl_hint(err, "after vfork() this lasts until the child calls exec; try "
				       "again");
			return -USPL_E_UNSUPPORTED;
		}
		nanosleep(&pause, NULL);
	}
	return 0;
}
