/* SPDX-License-Identifier: GPL-3.0-or-later */
/* blockers.h - a thread that is in the way: told to people, and waited for */
#ifndef USPL_LIVE_BLOCKERS_H
#define USPL_LIVE_BLOCKERS_H

#include "live/safety.h"

/*
 * Records USPL_E_BUSY with the thread, its name, the function and the call chain, by the symbols of
 * the modules.
 */
int blocker_fail(const struct proc *proc, const module_vec *modules,
		 const struct safety_finding *finding, struct uspl_err *err);

/*
 * Waits until the thread, found in the way, has run again, or until the deadline (CLOCK_MONOTONIC,
 * nanoseconds): one that sleeps all the time is still where it was, and stopping everybody again
 * would tell nothing new. The thread must have been let go.
 */
void blocker_wait(const struct proc *proc, pid_t tid, int64_t deadline);

#endif
