/* SPDX-License-Identifier: GPL-3.0-or-later */
/* correlate.h - which symbol of the post build is which of the pre build */
#ifndef USPL_CREATE_DIFF_CORRELATE_H
#define USPL_CREATE_DIFF_CORRELATE_H

#include "base/types.h"

struct diff;
struct patched_lines;
struct unit;
struct uspl_err;

/*
 * Pairs the symbols of all units and gives each its refname. Refuses pairs that can't be told
 * apart.
 */
int correlate(struct diff *diff, struct uspl_err *err) uspl_must_check;
/* The part of it that pairs functions within functions. */
int nested_pair(struct unit *unit, struct uspl_err *err) uspl_must_check;
/*
 * The part of it that pairs static locals; functions must be paired before. patched: the lines that
 * the diff changes, NULL if they aren't known.
 */
int statics_pair(struct unit *unit, const struct patched_lines *patched,
		 struct uspl_err *err) uspl_must_check;
/*
 * The part of it that pairs variables of C++ whose names hold the parameters of what is around
 * them; all else must be paired before.
 */
int scoped_pair(const struct diff *diff, struct uspl_err *err) uspl_must_check;
/*
 * The parts of it that pair what the preprocessor has numbered: functions before names are paired,
 * variables once functions are.
 */
int counted_pair_functions(struct unit *unit, struct uspl_err *err) uspl_must_check;
int counted_pair_variables(struct unit *unit, struct uspl_err *err) uspl_must_check;

#endif
