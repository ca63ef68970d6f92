/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lacks.h - whether a process runs what updates are for, and which it lacks */
#ifndef USPL_MACHINE_LACKS_H
#define USPL_MACHINE_LACKS_H

#include "machine/updates.h"
#include "machine/search.h"

/*
 * SEARCH_OPEN if some update is for a program or library that the process has mapped, by build-id,
 * name or the name that it was started by, and isn't in effect there; SEARCH_DONE if all that are
 * for it are; SEARCH_OTHER if none is for it. Nothing is matched.
 */
int lacks_update(const update_vec *updates, struct proc *proc, enum search_answer *ret,
		 struct uspl_err *err) uspl_must_check;

#endif
