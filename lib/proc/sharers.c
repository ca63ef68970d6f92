// SPDX-License-Identifier: GPL-3.0-or-later
// sharers.c - processes that share their memory with another one without being its threads

#include "proc/sharers.h"

#include <linux/kcmp.h>
#include <sys/syscall.h>

#include "base/file.h"

static bool shares_memory(pid_t one, pid_t other)
{
	return syscall(SYS_kcmp, one, other, KCMP_VM, 0, 0) == 0;
}

int sharers_refuse(const struct proc *proc, struct uspl_err *err)
{
	auto_closedir DIR *dir = opendir("/proc");
	struct dirent *entry;

	if (!dir)
		return uspl_fail_errno(err, "cannot open '/proc'");
	while ((entry = readdir(dir))) {
		pid_t pid = (pid_t)atol(entry->d_name);

		if (pid <= 0 || pid == proc->pid || !shares_memory(proc->tid, pid))
			continue;
		uspl_fail(err, USPL_E_UNSUPPORTED,
			  "pid %d runs in the memory of pid %d without being a thread of it", pid,
			  proc->pid);
		uspl_hint(err, "after vfork() this lasts until the child calls exec; try again");
		return -USPL_E_UNSUPPORTED;
	}
	return 0;
}
