/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * interrupted.h - updates that a command which died has left in the middle of their switch
 *
 * Of such an update it isn't known whether its code or the old one runs now, so nothing else can be
 * changed before that is decided. The next command that changes the process decides it, in the
 * direction in which the switch was going: the operator has asked for that already.
 */
#ifndef USPL_COMMAND_INTERRUPTED_H
#define USPL_COMMAND_INTERRUPTED_H

#include "command/live_options.h"
#include "proc/module.h"
#include "record/region.h"

/*
 * Completes each of them but the update `except` (NULL: all). regions: as region_status_find_gone
 * leaves them; their states follow. What was done is said in *ret_note, as a note for the user,
 * which stays empty if there was nothing to do. opts: how to wait, and whether to stop all; with
 * `check` nothing is done. Fails as transition_run does, and then nothing has changed, or the
 * update is still in the middle of its switch.
 */
int interrupted_complete(struct proc *proc, const module_vec *modules, region_vec *regions,
			 const char *except, const struct live_options *opts,
			 struct uspl_err *ret_note, struct uspl_err *err) uspl_must_check;

/*
 * A tool died when not all records of the update said yet that it was being switched, or when some
 * no longer said it, and nothing leads to any part of it. Then the parts that say so count as
 * undone, so that all parts are switched together, not these first. write: their records say so,
 * too.
 */
void interrupted_rest(const struct proc *proc, region_vec *regions, const char *id, bool write);

#endif
