/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan.h - which updates are in which processes
 *
 * A process holds regions; an update is in several processes. scan_processes reads the processes,
 * scan_group sorts what they hold by update.
 */
#ifndef USPL_VIEW_SCAN_H
#define USPL_VIEW_SCAN_H

#include "base/strmap.h"
#include "machine/selection.h"
#include "record/region_status.h"
#include "record/shadow_records.h"

struct scan_process {
	pid_t pid;
	char comm[32];
	char user[32];      /* its owner */
	region_vec regions; /* oldest first */
	module_vec modules;
	VEC(shadow_record_vec) shadows; /* of each of the regions */
};

/* An update in one process. */
struct scan_presence {
	const struct scan_process *process;
	const struct region *record; /* one of its records of the update there */
	struct region_status status;
};

struct scan_update {
	const struct region *region; /* one of its regions: id, description and patch are in each */
	VEC(struct scan_presence) presences;
	/* The place, from 1 on, of another one with the same id; 0: there is none behind it. */
	size_t same_id;
	bool is_other; /* one with the same id stands before it */
};

struct scan {
	VEC(struct scan_process) processes; /* those with regions */
	VEC(struct scan_update) updates;    /* after scan_group, pointing into processes */
	VEC(struct uspl_err) failures; /* of single processes; the others are read all the same */
	VEC(struct uspl_err) notes;    /* of processes that were not named, and are left out */
	size_t skipped;                /* processes that we may not read */
	struct strmap by_id;           /* the place, from 1 on, of the first update of an id */
};

/*
 * Reads the processes that are named and selected, or, if there are neither, every process. One
 * that was named and can't be read, or whose record is damaged or of another version, is a failure.
 * In a process that wasn't named such a record is a note, since any user may have made it, and
 * processes that can't be read are passed over. USPL_E_NO_PROCESS if no process fits the selectors,
 * and none is named.
 */
int scan_processes(const struct selection *sel, struct scan *scan,
		   struct uspl_err *err) uspl_must_check;
/*
 * Records that have an id in common and differ in their description or patch are two updates.
 * Fills scan->updates: those that are wanted, or all of them, or those of one id (NULL: of any).
 */
int scan_group(struct scan *scan, const char *id, bool all, struct uspl_err *err) uspl_must_check;
/* The shadow variables of one of the regions that a status has. */
const shadow_record_vec *scan_shadows(const struct scan_process *process,
				      const struct region *region);
/* Frees everything. */
void scan_release(struct scan *scan);

DEFINE_AUTO_RELEASE(scan, struct scan, scan_release)
#define auto_scan __attribute__((cleanup(cleanup_scan_)))

#endif
