// SPDX-License-Identifier: GPL-3.0-or-later
// shstk.c - user shadow stacks (CET): whether a thread has one

#include "proc/shstk.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "proc/proc_status.h"
#include "proc/task.h"

/* elf.h and asm/prctl.h of older systems lack them. */
enum { NOTE_SHSTK = 0x204, SHSTK_STATUS = 0x5005 };

/* Fails where the kernel isn't made for it, and where the processor has none (EOPNOTSUPP). */
bool shstk_offered(void)
{
	static int known;
	uint64_t features;

	if (!known)
		known = syscall(SYS_arch_prctl, SHSTK_STATUS, &features) == 0 ? 1 : -1;
	return known > 0;
}

/* The kernel has this set of registers only for threads that use one. */
bool shstk_read(pid_t tid, uint64_t *ret_ssp)
{
	uint64_t ssp = 0;
	struct iovec iov = { &ssp, sizeof(ssp) };

	if (ptrace(PTRACE_GETREGSET, tid, (void *)(long)NOTE_SHSTK, &iov) != 0)
		return false;
	*ret_ssp = ssp;
	return true;
}

int shstk_write(pid_t tid, uint64_t ssp, struct uspl_err *err)
{
	struct iovec iov = { &ssp, sizeof(ssp) };

	return ptrace(PTRACE_SETREGSET, tid, (void *)(long)NOTE_SHSTK, &iov) == 0
		       ? 0
		       : uspl_fail_errno(err, "cannot set the shadow stack of thread %d", tid);
}

bool shstk_in_process(const struct proc *proc)
{
	auto_vec tid_vec tids = { 0 };
	const pid_t *tid;
	struct proc_status status;
	bool found = proc->shadow_stack;

	/* A list that can't be read is no proof that there is none. */
	if (!found && shstk_offered() && tasks_list(proc, &tids, NULL) != 0)
		found = true;
	vec_for_each (&tids, tid) {
		auto_buf struct buf text = { 0 };

		if (found || !task_status(proc, *tid, &text))
			continue;
		proc_status_parse(buf_str(&text), &status);
		found = status.shadow_stack;
	}
	return found;
}
