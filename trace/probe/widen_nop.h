/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * widen_nop.h - room for a jump in the middle of a function
 *
 * A USDT probe is a NOP of one byte. The jump takes five: the instructions behind or before the
 * NOP are moved out of line, which is possible if nothing leads into the middle of these bytes.
 */
#ifndef USPL_TRACE_PROBE_WIDEN_NOP_H
#define USPL_TRACE_PROBE_WIDEN_NOP_H

#include "trace/probe/marker.h"

/*
 * For the sites from items[0] on (n of them, in one module): site (which was the NOP), before, old,
 * old_len and guard, or why there is no room. One look through all of the module's code and data.
 */
int widen_nops(const struct image *image, struct marker *items, size_t n,
	       struct uspl_err *err) uspl_must_check;

#endif
