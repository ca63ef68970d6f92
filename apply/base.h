/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * base.h - whether a process has the updates that an update was made on top of
 *
 * Nothing is refused for that: updates that don't touch each other come and go in any order. But
 * where an update doesn't fit, it is the likely reason.
 */
#ifndef USPL_APPLY_BASE_H
#define USPL_APPLY_BASE_H

#include "record/region.h"
#include "update/update.h"

/*
 * Explains a refusal by an update that is missing in the module, or by one that is in the way:
 * which has changed this function (NULL: any of the target's), and isn't in the source that the
 * update was made from. The message gets it as context, and another hint. False if it isn't that.
 */
bool base_explain(const struct update *update, const struct update_target *target, taddr module,
		  const region_vec *others, const char *function, struct uspl_err *err);

#endif
