/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * region_status.h - what is in effect of the updates that a process holds records of
 *
 * A record says what a tool has done; since then the program may have unloaded a library, with the
 * jumps in it, and loaded it again, without them. So records are compared with the modules of the
 * process. An update is *pending* for a library in which it is to be in effect and isn't, because
 * the process hasn't loaded it yet, has unloaded it, or has loaded it (or one more copy of it)
 * since the last apply. The next apply completes what can be completed.
 */
#ifndef USPL_RECORD_REGION_STATUS_H
#define USPL_RECORD_REGION_STATUS_H

#include "base/strvec.h"
#include "proc/module.h"
#include "record/region.h"

/*
 * Finds out which live regions have lost their module, and sets their `gone`. Code that reads
 * regions to act on them, or to show them, calls this next.
 */
void region_status_find_gone(const struct proc *proc, const module_vec *modules,
			     region_vec *regions);

/* The region of the update that is in effect in the module, or NULL. */
const struct region *region_status_region_of(const region_vec *regions, const char *id,
					     const struct module *module);

/* An update in one process. */
struct region_status {
	const char *state;   /* the name that users see: region_state_name */
	bool wanted;         /* it is to be in effect: neither undone nor only loaded */
	bool between;        /* threads go over one by one, */
	size_t threads_left; /* and so many haven't yet */
	int64_t applied_at;
	region_list regions; /* its regions; of a wanted update: those in effect */
	strvec pending;      /* names of libraries */
};

/* Looks at one update, after region_status_find_gone. */
int region_status_read(const module_vec *modules, const region_vec *regions, const char *id,
		       struct region_status *ret, struct uspl_err *err) uspl_must_check;
void region_status_release(struct region_status *status);

#endif
