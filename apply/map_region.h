/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map_region.h - memory for a region in the process
 *
 * Only the target can map memory: one of its threads is held for a moment. The place is chosen
 * before, since code is linked for it. The program may take it between our look and our mapping:
 * then the next one is tried.
 */
#ifndef USPL_APPLY_MAP_REGION_H
#define USPL_APPLY_MAP_REGION_H

#include "proc/module.h"
#include "record/region.h"
#include "update/update.h"

/* How often the program may take a place before us. */
#define MAP_REGION_TRIES 5
#define MAP_REGION_PARTS 5

/* A piece of a region with a protection of its own. */
struct map_region_part {
	taddr addr;
	uint64_t len; /* whole pages; 0: there is none */
	int prot;
};

/*
 * How many bytes of memory a target's code may take in the process, at most: the region, the pages
 * of code that sites make private, the kernel's tables for all that, and what the process itself
 * may need meanwhile.
 */
uint64_t map_region_need(const struct update *update, const struct update_target *target);
/*
 * A free place, best within reach of the module (map_region_is_near), else anywhere.
 * USPL_E_OUT_OF_REACH if there is none.
 */
int map_region_find(const struct proc *proc, const struct module *module, uint64_t len, taddr *ret,
		    struct uspl_err *err) uspl_must_check;
/* True if code at [map, + len) can refer to all of the module, and the other way round. */
bool map_region_is_near(const struct module *module, taddr map, uint64_t len);
/*
 * Maps [region->map, + map_len) as a whole, then lays the info part and the others into it, at most
 * MAP_REGION_PARTS. result_page: as in struct inject_choice, in a part that is written to; 0: there
 * is none. Until the record is written over it, the info part is marked (partial_mapping.h).
 * *ret_taken: the program has mapped something there meanwhile, and nothing was done.
 */
int map_region_map(struct proc *proc, const struct region *region,
		   const struct map_region_part *parts, size_t n, taddr result_page,
		   bool *ret_taken, struct uspl_err *err) uspl_must_check;
/* Says that a place was taken MAP_REGION_TRIES times. */
int map_region_fail_taken(const struct proc *proc, struct uspl_err *err);
/* Unmaps the region. */
int map_region_unmap(struct proc *proc, const struct region *region,
		     struct uspl_err *err) uspl_must_check;
/* The same where a failure changes nothing for the caller: noted in the log. */
void map_region_give_back(struct proc *proc, const struct region *region);

#endif
