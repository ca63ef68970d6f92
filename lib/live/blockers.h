/* SPDX-License-Identifier: GPL-3.0-or-later */
/* blockers.h - a thread that is in the way, told to people */
#ifndef USPL_LIVE_BLOCKERS_H
#define USPL_LIVE_BLOCKERS_H

#include "live/safety.h"

/*
 * Records USPL_E_BUSY with the thread, its name, the function and the call chain, by the symbols of
 * the modules.
 */
int blocker_fail(const struct proc *proc, const module_vec *modules,
		 const struct safety_finding *finding, struct uspl_err *err);

#endif
