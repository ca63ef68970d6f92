/* SPDX-License-Identifier: GPL-3.0-or-later */
/* marks_internal.h - what the files about markers share among themselves */
#ifndef USPL_TRACE_PROBE_MARKS_INTERNAL_H
#define USPL_TRACE_PROBE_MARKS_INTERNAL_H

#include "trace/probe/filter.h"
#include "trace/probe/marks.h"

/* What becomes a region. */
struct mark_plan {
	const struct marks_request *request;
	const struct module *module;
	VEC(const struct marker *) sites; /* each gets a probe */
	VEC(const struct marker_switch *) switches;
};

/*
 * Loads the probes of a plan: maps, writes, the record last. Nothing leads to them yet. `shared` is
 * what trace_buffers_map has noted.
 */
int mark_load(struct proc *proc, const struct mark_plan *plan, uint32_t first_id,
	      const struct uspl_trace_region *shared, struct mark_region *ret,
	      struct uspl_err *err) uspl_must_check;
/*
 * Tells the program's unwinder of the thunks that a region has, if any: what returns through them
 * must be found. USPL_E_UNSUPPORTED: that is needed, and can't be done.
 */
int mark_tell_unwinder(struct proc *proc, const module_vec *modules,
		       const struct mark_region *region, struct uspl_err *err) uspl_must_check;
/*
 * Unmaps a region. On failure it stays, with its record; also if the program's unwinder can't be
 * told to forget it, and would ask for it.
 */
int mark_unload(struct proc *proc, const module_vec *modules, const struct mark_region *region,
		struct uspl_err *err) uspl_must_check;

/* One change of code. */
struct mark_change {
	taddr addr;
	uint8_t from[USPL_TRACE_SITE_BYTES], to[USPL_TRACE_SITE_BYTES];
	/* no thread may stand in these bytes from addr, but at the first; 0, 1: any may */
	uint8_t guard;
};

typedef VEC(struct mark_change) mark_changes;

/* A semaphore and what is added to it. */
struct mark_count {
	taddr semaphore;
	int16_t add;
};

typedef VEC(struct mark_count) mark_counts;

/*
 * Makes the changes: while all threads run, if each is within one word, else while they stand
 * still. *ret: stop_us, if they did. USPL_E_BUSY if a thread stands in the bytes of a site for
 * longer than a moment. USPL_E_STRANDED: some may be made.
 */
int mark_switch(struct proc *proc, const module_vec *modules, const mark_changes *changes,
		const mark_counts *counts, struct marks_switched *ret,
		struct uspl_err *err) uspl_must_check;
/*
 * Waits until no thread is in the probes of the request's session; ret->inside: those that stay. A
 * thread that sleeps isn't woken for it. On stacks that no thread is on, returns that probes wait
 * for go without them.
 */
int mark_drain(struct proc *proc, const module_vec *modules, const struct marks *marks,
	       const struct marks_request *request, struct marks_switched *ret,
	       struct uspl_err *err) uspl_must_check;

#endif
