/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rlimits.h - limits of a process on what it may map, lifted for the moment of a mapping
 *
 * A process at its limit of addresses (RLIMIT_AS), data (RLIMIT_DATA) or locked memory
 * (RLIMIT_MEMLOCK) maps nothing more, not even for the tool. Where the tool may raise these limits
 * from outside, as root as a rule, it does so for as long as the mapping takes.
 */
#ifndef USPL_INJECT_RLIMITS_H
#define USPL_INJECT_RLIMITS_H

#include "proc/proc.h"

/* Limits that are lifted. */
struct rlimits {
	pid_t keeper; /* a child that puts them back when it is told, or when the tool dies */
	int told;     /* by closing this it is told */
};

/* Lifts them. False, and nothing has changed, if none could be, or none was there. */
bool rlimits_lift(const struct proc *proc, struct rlimits *ret) uspl_must_check;
/* Puts them back. */
void rlimits_restore(struct rlimits *limits);

/*
 * Adds a hint to a message that something couldn't be mapped: which limit it may have been. error:
 * of mmap(2). vm.max_map_count holds for all processes, and is named only where the process has
 * reached it.
 */
void rlimits_hint(const struct proc *proc, int64_t error, struct uspl_err *err);

#endif
