/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * quiet_units.h - units whose objects differ, but not in what a program has of them
 *
 * A patch of a header changes the debugging information of all that include it, and the code of
 * few. The others are quiet: they are not among a diff's units, and only a check that must know how
 * they use a type opens them, one after the other.
 */
#ifndef USPL_CREATE_DIFF_QUIET_UNITS_H
#define USPL_CREATE_DIFF_QUIET_UNITS_H

#include "create/unit/unit.h"

enum unit_sort {
	UNIT_SAME,  /* the same bytes in both builds */
	UNIT_QUIET, /* the same code, data and symbols */
	UNIT_DIFFERENT,
};

/* Finds out which it is. */
int quiet_sort(const struct diff_unit *in, enum unit_sort *ret,
	       struct uspl_err *err) uspl_must_check;

/* The build before the patch of a quiet unit; unit as in unit_open. */
int quiet_open_pre(struct unit *unit, const struct diff_unit *in,
		   struct uspl_err *err) uspl_must_check;

#endif
