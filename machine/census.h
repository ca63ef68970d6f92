/* SPDX-License-Identifier: GPL-3.0-or-later */
/* census.h - all processes as /proc lists them, and which of them a selection means */
#ifndef USPL_MACHINE_CENSUS_H
#define USPL_MACHINE_CENSUS_H

#include "machine/selection.h"

/* A process as it is told from a later one that has its pid. */
struct census_process {
	pid_t pid, parent;
	uint64_t starttime; /* clock ticks since boot */
};

typedef VEC(struct census_process) census_vec;

/*
 * What /proc/PID/stat says of the process: USPL_E_NO_PROCESS if there is none. *ret_kernel is true
 * for a thread of the kernel's.
 */
int census_read(pid_t pid, struct census_process *ret, bool *ret_kernel,
		struct uspl_err *err) uspl_must_check;
/* All processes, without the kernel's threads, in no order. They may end at any moment. */
int census_all(census_vec *ret, struct uspl_err *err) uspl_must_check;
/*
 * The processes that the selectors mean, without the kernel's threads and without those that run
 * this program: its own workers, and other commands that are at work. They may end at any moment.
 * Their memory isn't looked at. *ret_hidden counts processes whose program this user can't find
 * out, where it is asked for.
 */
int census_take(const struct selection *sel, census_vec *ret, size_t *ret_hidden,
		struct uspl_err *err) uspl_must_check;
/* True if paths mean the same for the process: it has the root folder that we have. */
bool census_has_our_root(pid_t pid);
/*
 * The same for what it has mapped so far. That is so, too, where it has left our root folder for
 * another one by itself, as servers do when they have started (haproxy's workers): it is in our
 * mount namespace, or in one that a parent with our root has.
 */
bool census_had_our_root(pid_t pid);

#endif
