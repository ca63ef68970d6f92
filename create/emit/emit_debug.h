/* SPDX-License-Identifier: GPL-3.0-or-later */
/* emit_debug.h - the debugging information of an update's new code */
#ifndef USPL_CREATE_EMIT_EMIT_DEBUG_H
#define USPL_CREATE_EMIT_EMIT_DEBUG_H

#include "base/types.h"

struct diff;
struct update_target;
struct uspl_err;

/*
 * Makes target->debug: a copy of target->new_code, with the debugging information of all units that
 * brought code to it. Comes after emit_new. Code that link-time optimisation made, and functions of
 * assembler that were taken out of a section that they shared, have none.
 */
int emit_debug(const struct diff *diff, struct update_target *target,
	       struct uspl_err *err) uspl_must_check;

#endif
