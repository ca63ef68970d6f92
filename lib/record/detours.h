/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * detours.h - instructions of applied updates that go through detours, and what they stand for
 *
 * An update's code isn't what was compiled where an operand is out of reach, or is a thread-local
 * variable that the update brought (struct uspl_detour of uspl/abi.h). For the match it is turned
 * back into that. A thread-local variable that an update brought means a number there which can't
 * be an address or a distance in any process, and tells the region and the offset in a thread's
 * block.
 */
#ifndef USPL_RECORD_DETOURS_H
#define USPL_RECORD_DETOURS_H

#include "image/image.h"
#include "record/region.h"

/* More than any update has. */
#define DETOURS_MAX 1000000u

/*
 * Puts into the image, which has the code and the constants of the module's live regions, the
 * instructions that were compiled, and what their fields mean. Detours that contradict themselves
 * are left as they are, so that their code matches nothing.
 */
int detours_unpatch_image(struct image *image, const region_vec *regions, taddr module,
			  struct uspl_err *err) uspl_must_check;

/* A thread-local variable that an update brought. */
struct detours_variable {
	const struct region *region; /* the update's */
	uint64_t offset;             /* in a thread's block */
	taddr distance, from_block;  /* the functions that ask for its place; 0: there is none */
};

/* What the match has found such a variable to mean; false: value means something else. */
bool detours_variable(const struct image *image, const region_vec *regions, uint64_t value,
		      struct detours_variable *ret);

/* Adds the detours of the code at [addr, addr + len): a thread that is in one is in that code. */
int detours_add_ranges(const struct image *image, const region_vec *regions, const char *name,
		       taddr addr, uint64_t len, region_range_vec *ranges,
		       struct uspl_err *err) uspl_must_check;

#endif
