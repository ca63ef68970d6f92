/* SPDX-License-Identifier: GPL-3.0-or-later */
/* equal.h - is a piece of code or data the same in both builds? */
#ifndef USPL_CREATE_UNIT_EQUAL_H
#define USPL_CREATE_UNIT_EQUAL_H

#include "base/types.h"

struct objsec;

/* A stretch of a section. */
struct range {
	const struct objsec *sec;
	uint64_t at, len;
};

/*
 * True if two ranges of the same length are equal in bytes and in references. depth: how many
 * literals lead here, to bound the recursion; 0 at first.
 */
bool equal_ranges(const struct range *pre, const struct range *post, int depth);
/* Where two ranges that aren't equal begin to differ: the distance from their starts. */
uint64_t equal_first_difference(const struct range *pre, const struct range *post);
/* True if what lies at the two places of two literal sections is the same, as far as it reaches. */
bool equal_literals(const struct objsec *pre, int64_t pre_at, const struct objsec *post,
		    int64_t post_at, int depth);

#endif
