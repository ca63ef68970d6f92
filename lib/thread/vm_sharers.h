/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vm_sharers.h - processes that share their memory with another one without being its threads
 *
 * A child of clone(CLONE_VM), or of vfork() that has not yet called exec. Stopping the threads of
 * this process, or looking at them, says nothing of that child. Kernels without kcmp(2)
 * (CONFIG_KCMP, Linux 3.5) can't tell; then it is assumed that there is none.
 */
#ifndef USPL_THREAD_VM_SHARERS_H
#define USPL_THREAD_VM_SHARERS_H

#include "proc/proc.h"

#define VM_SHARERS_MAX 32

/* What is known of them; all zero to begin with. */
struct vm_sharers {
	bool known;   /* all that there were have been looked for */
	long last_id; /* that the kernel had given to a process or thread before; above 0 then */
	int64_t looked_ns; /* when that was */
	pid_t found;       /* one of them, 0 if there was none */
	/* those that there were at the last look; if it is full, there may be others */
	pid_t seen[VM_SHARERS_MAX];
	size_t n_seen;
};

/*
 * True if there is none now. The first look takes 4 us for each thread and each child of an
 * ancestor, a later one 3 us and 1 us for each process or thread of the machine that was born
 * since, and each that shared the memory at the look before.
 */
bool vm_sharers_none_since(const struct proc *proc, struct vm_sharers *vm_sharers) uspl_must_check;

/*
 * Waits until there is none: a child of vfork() or posix_spawn() is one for a millisecond. At the
 * deadline (CLOCK_MONOTONIC, in nanoseconds; 0: at once), or on ^C, refuses (USPL_E_UNSUPPORTED)
 * and names it.
 */
int vm_sharers_await(const struct proc *proc, struct vm_sharers *vm_sharers, int64_t deadline,
		     struct uspl_err *err) uspl_must_check;

/* How long commands wait whose users can't say. */
#define VM_SHARERS_WAIT_NS 5000000000ll

#endif
