// SPDX-License-Identifier: GPL-3.0-or-later
// proc_current.c - whether a thread still runs the program whose memory we have open

#include <elf.h>
#include <string.h>
#include <sys/uio.h>

#include "proc/proc.h"

/*
 * The kernel gives each program 16 random bytes, on its stack (getauxval(3), AT_RANDOM). They are
 * read in both ways: by what we have open, and by the thread as it is now.
 */
int proc_check_current(const struct proc *proc, pid_t tid, struct uspl_err *err)
{
	struct proc thread = *proc;
	uint8_t ours[16], now[16];
	struct iovec here = { now, sizeof(now) }, there = { .iov_len = sizeof(now) };
	taddr at;

	thread.tid = tid;
	thread.kept = NULL;
	at = proc_auxv(&thread, AT_RANDOM);
	there.iov_base = (void *)(uintptr_t)at;
	/* A program without them, or whose stack is gone by its own doing, can't be checked. */
	if (!at || process_vm_readv(tid, &here, 1, &there, 1, 0) != sizeof(now))
		return 0;
	if (proc_read_some(proc, at, ours, sizeof(ours)) == sizeof(ours) &&
	    !memcmp(ours, now, sizeof(ours)))
		return 0;
	return uspl_fail(err, USPL_E_NO_PROCESS,
			 "pid %d has called exec: it is another program now", proc->pid);
}
