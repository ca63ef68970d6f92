/* SPDX-License-Identifier: GPL-3.0-or-later */
/* state_list.h - what a patch says of the program's data (USPL_STATE of uspl/hook.h) */
#ifndef USPL_CREATE_EMIT_STATE_LIST_H
#define USPL_CREATE_EMIT_STATE_LIST_H

#include "base/types.h"

struct diff;
struct update_target;
struct uspl_err;

/*
 * Adds the states that the units after the patch have, and not before it, to the target. new_code
 * must be there. USPL_E_UNSUPPORTED: one has two numbers, or no number.
 */
int state_list_add(const struct diff *diff, struct update_target *target,
		   struct uspl_err *err) uspl_must_check;

#endif
