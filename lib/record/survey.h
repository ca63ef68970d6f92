/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * survey.h - what is in effect of the updates that a process holds records of
 *
 * A record says what a tool has done; since then the program may have unloaded a library, with the
 * jumps in it, and loaded it again, without them. So records are held against the modules of the
 * process. An update is *pending* for a library that it is to be in effect in and isn't: because
 * the process hasn't loaded it yet, has unloaded it, or has loaded it (or one more copy of it)
 * since the last apply. The next apply completes what can be completed.
 */
#ifndef USPL_RECORD_SURVEY_H
#define USPL_RECORD_SURVEY_H

#include "proc/module.h"
#include "record/region.h"

/*
 * Finds out which live regions have lost their module, and sets their `gone`. Everybody who reads
 * regions to act on them, or to show them, asks this next.
 */
void survey_modules(const struct proc *proc, const module_vec *modules, region_vec *regions);

/* The region of the update that is in effect in the module, or NULL. */
const struct region *survey_region_of(const region_vec *regions, const char *id,
				      const struct module *module);

/* An update in one process. */
struct survey {
	const char *state; /* the word that users see: region_state_word */
	bool wanted;       /* it is to be in effect: neither undone nor only loaded */
	int64_t applied_at;
	region_list regions; /* its regions; of one that is wanted: those in effect */
	VEC(char *) pending; /* names of libraries */
};

/* Looks at one update, after survey_modules. */
int survey_update(const module_vec *modules, const region_vec *regions, const char *id,
		  struct survey *ret, struct uspl_err *err) uspl_must_check;
void survey_release(struct survey *survey);

#endif
