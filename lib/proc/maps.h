/* SPDX-License-Identifier: GPL-3.0-or-later */
/* maps.h - what /proc/PID/maps says, and where there is room in it */
#ifndef USPL_PROC_MAPS_H
#define USPL_PROC_MAPS_H

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vec.h"

/* One line of /proc/PID/maps. */
struct mapping {
	taddr start, end;
	bool read, write, exec, shared;
	uint64_t offset;
	uint64_t dev, inode; /* 0, 0 for anonymous memory */
	char *path;          /* as the kernel shows it; "" for anonymous memory */
	bool deleted;        /* the kernel shows " (deleted)"; path is without it */
};

typedef VEC(struct mapping) mapping_vec;

/* Parses the text of a maps file. */
int mappings_parse(const char *text, mapping_vec *ret, struct uspl_err *err) uspl_must_check;
void mappings_release(mapping_vec *maps);
DEFINE_AUTO_RELEASE(mappings, mapping_vec, mappings_release)
#define auto_mappings __attribute__((cleanup(cleanup_mappings_)))
/* The mapping that addr lies in, or NULL. */
const struct mapping *mappings_at(const mapping_vec *maps, taddr addr);
/* True for private memory of no file and without a name. */
bool mapping_is_nameless(const struct mapping *map);
/*
 * True if a record of ours may lie there: nameless memory that can be read and not run. It is
 * read-only, unless a thread was called back while it made a note in it (safety/safe_call.h).
 */
bool mapping_may_hold_record(const struct mapping *map);

/*
 * A free place of len bytes (whole pages) all of which lies within reach of both ends of [start,
 * end): the nearest one below start, else the highest one above end, so that a heap that grows
 * upwards behind a program keeps its room. Returns 0 if there is none.
 */
taddr mappings_find_hole(const mapping_vec *maps, taddr start, taddr end, uint64_t len,
			 uint64_t reach);
/*
 * A free place of len bytes (whole pages) in the widest hole there is: at its upper end, where the
 * kernel itself would look, but far from what may grow down into it (the stack, the next mappings).
 * Returns 0 if there is none.
 */
taddr mappings_find_wide(const mapping_vec *maps, uint64_t len);

#endif
