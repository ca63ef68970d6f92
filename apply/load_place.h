/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_place.h - the place of new code: where there is room for it, linked for that, mapped and
 * written
 *
 * The function that links for a region's place fills in its addresses. A link is the caller's to
 * free.
 */
#ifndef USPL_APPLY_LOAD_PLACE_H
#define USPL_APPLY_LOAD_PLACE_H

#include "link/link.h"
#include "apply/load.h"

/* Adds the functions of the new code to the region; where they lie is set by linking. */
int load_name_functions(const struct load *load, struct region *region,
			struct uspl_err *err) uspl_must_check;
/* The same for its hooks. */
int load_name_hooks(const struct load *load, struct region *region,
		    struct uspl_err *err) uspl_must_check;
/*
 * Links for a place where there is room at the moment: within reach of the module, or anywhere,
 * without trampolines, if its neighbourhood is full. info_len: bytes of the record, whole pages.
 */
int load_link_in_room(const struct load *load, uint64_t info_len, struct region *region,
		      struct link **ret, struct uspl_err *err) uspl_must_check;
/*
 * Links for the place of another region, in the form that this one has (with trampolines, or
 * without).
 */
int load_link_there(const struct load *load, const struct region *there, uint64_t info_len,
		    struct region *region, struct link **ret, struct uspl_err *err) uspl_must_check;
/*
 * Maps the place in the process, in one run of requests. *ret_taken: something has been mapped
 * there in the meantime; nothing has happened then.
 */
int load_map_region(struct proc *proc, const struct link *link, const struct region *region,
		    bool *ret_taken, struct uspl_err *err) uspl_must_check;
/*
 * Writes the linked segments, and the record when they are there: what has no record doesn't exist.
 */
int load_write_region(struct proc *proc, const struct link *link, const struct region *region,
		      struct uspl_err *err) uspl_must_check;

#endif
