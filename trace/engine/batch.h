/* SPDX-License-Identifier: GPL-3.0-or-later */
/* batch.h - the sites of one region are exchanged */
#ifndef USPL_TRACE_ENGINE_BATCH_H
#define USPL_TRACE_ENGINE_BATCH_H

#include "record/region.h"
#include "trace/engine/refs.h"

struct trace_region;
struct unwinder;

/* What all batches of a switch have in common. */
struct batch_input {
	const struct proc *proc;
	bool on;
	bool still; /* all sites are exchanged in stops: the module isn't lasting (proc/module.h) */
	struct unwinder *unwinder;
	const region_vec *updates;
	const addr_vec *updated; /* entries of functions that have updates or probes, sorted */
};

struct batch_result {
	size_t sites;     /* that were exchanged */
	double stop_us;   /* the longest standstill of those that run */
	bool rehearsed;   /* the stacks of those that run have been followed once */
	double switch_us; /* from before the first page is made ready to behind the last site */
};

/*
 * Exchanges the sites of a region whose module is there; adds to the result. Sites that are off
 * already are passed over when they are to be off.
 */
int batch_exchange(const struct batch_input *in, const struct trace_region *region,
		   struct batch_result *result, struct uspl_err *err) uspl_must_check;

#endif
