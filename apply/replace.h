/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replace.h - the updates of a process whose place a new one takes
 *
 * The new update was made from the source without them, as its author says in it ("replaces"), or
 * the operator with --replace=ID. So it is matched with the program as it would be without them,
 * and takes effect in the same instant in which they go (switch/replaced.h).
 */
#ifndef USPL_APPLY_REPLACE_H
#define USPL_APPLY_REPLACE_H

#include "base/buf.h"
#include "record/region.h"
#include "update/update.h"

/* USPL_E_USAGE if that, the value of --replace, is no list of ids. NULL and "" are right. */
int replace_check(const char *asked, struct uspl_err *err) uspl_must_check;
/*
 * Moves the live regions of those updates from `regions` to *ret, in their order, and adds the ids
 * to *ret_ids, separated by blanks. `asked` is as in live_options. USPL_E_USAGE: the update itself
 * has to say which, and doesn't. USPL_E_CONFLICT: another update, which stays, builds on one of
 * them, or one of them has a state that the new update lacks, or has in an older version.
 */
int replace_take(const struct update *update, const char *asked, region_vec *regions,
		 region_vec *ret, struct buf *ret_ids, struct uspl_err *err) uspl_must_check;
/*
 * Of the same updates, what is wanted for libraries that aren't there: no longer. For after the
 * switch.
 */
int replace_forget_pending(const struct proc *proc, const struct update *update, const char *asked,
			   region_vec *regions, struct uspl_err *err) uspl_must_check;

#endif
