/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load.h - an update's new code for one module, brought into the process
 *
 * Links the code for a place within reach of the module, maps that place in the target, and writes
 * code, data and record. Afterwards the process runs as before: nothing leads to the new code yet.
 */
#ifndef USPL_APPLY_LOAD_H
#define USPL_APPLY_LOAD_H

#include "apply/resolve.h"
#include "record/region.h"
#include "update/update.h"

/* What is loaded where. Everything is the caller's. */
struct load {
	struct proc *proc;
	const module_vec *modules;
	const struct module *module;
	const struct image *image;
	const struct match *match;
	struct resolver *resolver;
	const struct update *update;
	const struct update_target *target;
	const region_vec *present;  /* the process's regions before */
	const region_vec *replaced; /* those whose place it takes, which aren't in present */
	bool by_thread;             /* threads may go over one by one */
	const char *replaces;       /* the ids of replaced updates, separated by blanks; "": none */
};

/*
 * Loads, or takes over the region that the same update left behind when it was undone, if its code
 * is byte for byte what would be loaded: then repeated apply and undo don't grow the process, and
 * variables that the update brought keep their values. *ret_region is USPL_REGION_LOADED or
 * USPL_REGION_UNDONE, the caller's to release. On failure nothing stays mapped.
 */
int load_update(const struct load *load, struct region *ret_region,
		struct uspl_err *err) uspl_must_check;

/*
 * What load_update would load, without changing anything in the target: the code is linked for a
 * place where there is room, and so found to be complete and in reach. ret_region has the sites and
 * the ranges, without addresses of new code.
 */
int load_plan(const struct load *load, struct region *ret_region,
	      struct uspl_err *err) uspl_must_check;

/* Fills in what a region's record says of the update and of the module. build_id may be NULL. */
int load_describe(const struct update *update, const char *module_name, const char *build_id,
		  struct region *region, struct uspl_err *err) uspl_must_check;

/*
 * Unmaps a region that was loaded and never switched on. Does nothing to one that was taken over.
 * If the program's unwinder can't be made to forget it at the moment, it stays mapped, and the next
 * apply takes it over.
 */
int load_remove(struct proc *proc, const module_vec *modules, struct region *region,
		struct uspl_err *err) uspl_must_check;
/*
 * Unmaps a region that no thread can be in: the program's unwinder forgets it first, or it stays
 * (USPL_E_BUSY).
 */
int load_discard(struct proc *proc, const module_vec *modules, struct region *region,
		 struct uspl_err *err) uspl_must_check;

#endif
