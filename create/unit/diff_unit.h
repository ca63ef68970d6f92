/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff_unit.h - a unit as the two builds leave it */
#ifndef USPL_CREATE_UNIT_DIFF_UNIT_H
#define USPL_CREATE_UNIT_DIFF_UNIT_H

/* One compilation unit of a target. */
struct diff_unit {
	const char *source;   /* relative to the tree; the unit's name in refnames */
	const char *pre_obj;  /* path; NULL: the unit is new */
	const char *post_obj; /* path; NULL: the unit is gone */
};

#endif
