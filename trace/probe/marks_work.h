/* SPDX-License-Identifier: GPL-3.0-or-later */
/* marks_work.h - a command that switches markers, for marks_on.c and marks_off.c */
#ifndef USPL_TRACE_PROBE_MARKS_WORK_H
#define USPL_TRACE_PROBE_MARKS_WORK_H

#include "record/region.h"
#include "trace/probe/marks_internal.h"

/* A command while it works. */
struct work {
	struct proc *proc;
	const module_vec *modules;
	const struct marks_request *request;
	struct marks marks;
	region_vec updates;
	struct uspl_trace_region shared; /* of the session */
	uint32_t next_id;
	bool fresh;   /* the session's memory was made by this command */
	size_t n_old; /* regions that were there before it */
	mark_changes changes;
	mark_counts counts;
	struct marks_switched result;
};

/* Frees what it holds. */
void marks_work_release(struct work *work);
DEFINE_AUTO_RELEASE(work, struct work, marks_work_release)
#define auto_work __attribute__((cleanup(cleanup_work_)))

/* True if the request is about markers of that name. */
bool marks_work_is_wanted(const struct marks_request *request, const char *name);
/* True if the region is one of the request's session. */
bool marks_work_is_ours(const struct work *work, const struct mark_region *region);
/*
 * Reads what there is in the process, and finds out what the session has so far: where its rings
 * are, which ids are taken. To be released on failure, too.
 */
int marks_work_open(struct work *work, struct uspl_err *err) uspl_must_check;
/* True if an update of the function that begins there is there. */
bool marks_work_is_updated(const struct work *work, taddr entry);
/*
 * A change at addr, where `from` is now; `to` is the same, and the caller's to fill in. NULL: no
 * memory.
 */
struct mark_change *marks_work_add_change(struct work *work, taddr addr, const uint8_t *from);
/* Writes a jump within the module's reach, which was checked when the code was made. */
void marks_work_jump(taddr from, taddr to, uint8_t *code);
/*
 * What `place` holds where no probe is at the site, and nothing behind probes: the bytes of the
 * program, given as `own`, or the NOP of a traced function's slot.
 */
void marks_work_none(taddr site, taddr place, const uint8_t *own, uint8_t *ret);
/* Counts at the probe's semaphore, if it has one. */
int marks_work_add_count(struct work *work, const struct uspl_probe *probe, int16_t add,
			 struct uspl_err *err) uspl_must_check;

#endif
