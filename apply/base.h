/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * base.h - whether a process has the updates that an update was made on top of
 *
 * Nothing is refused for that alone: updates that don't touch each other come and go in any order.
 * But where an update doesn't fit, a missing one is the likely reason.
 */
#ifndef USPL_APPLY_BASE_H
#define USPL_APPLY_BASE_H

#include "record/region.h"
#include "update/update.h"

/*
 * Explains a refusal by an update that is missing in the module, or by one that is in the way: one
 * that has changed this function (NULL: any of the target's), and isn't in the source that the
 * update was made from. The message gets that as context, and another hint. False if neither is the
 * reason.
 */
bool base_explain(const struct update *update, const struct update_target *target, taddr module,
		  const region_vec *others, const char *function, struct uspl_err *err);

#endif
