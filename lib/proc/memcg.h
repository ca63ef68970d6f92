/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memcg.h - the limit on memory that a process shares with others (a memory control group)
 *
 * Memory that the tool fills in a process counts for its group. At the group's limit the kernel
 * doesn't refuse it but kills a process of the group, which may be this one. So the limit has to be
 * known before.
 */
#ifndef USPL_PROC_MEMCG_H
#define USPL_PROC_MEMCG_H

#include "proc/proc.h"

/*
 * Refuses (USPL_E_MEMORY_LIMIT, naming the group) if a group of the process has less than `bytes`
 * left, file pages that the kernel can drop counted as free. Both versions of control groups, and
 * the groups above. Where they can't be read, nothing is refused.
 */
int memcg_require(const struct proc *proc, uint64_t bytes, struct uspl_err *err) uspl_must_check;

/*
 * Refuses (USPL_E_UNSTOPPABLE, naming it) if the process is in a frozen control group of version 2,
 * or below one: its threads can be stopped, but do nothing for the tool.
 */
int memcg_refuse_frozen(const struct proc *proc, struct uspl_err *err) uspl_must_check;

/*
 * memcg_require with what is read given as text: for tests. `cgroup` is /proc/PID/cgroup, `mounts`
 * the tool's own /proc/self/mountinfo.
 */
int memcg_require_in(const char *cgroup, const char *mounts, uint64_t bytes,
		     struct uspl_err *err) uspl_must_check;

/* More than any machine has; version 1 shows a group without a limit so, too. */
#define MEMCG_NO_LIMIT (1ull << 60)

/*
 * How many bytes the groups of the process have left: *ret is that of the group with the least, or
 * MEMCG_NO_LIMIT. False if no group can be seen: then memcg_require refuses nothing.
 */
bool memcg_left(const struct proc *proc, uint64_t *ret);

#endif
