/* SPDX-License-Identifier: GPL-3.0-or-later */
/* patch_module.h - the sites of one region are exchanged */
#ifndef USPL_TRACE_ENGINE_PATCH_MODULE_H
#define USPL_TRACE_ENGINE_PATCH_MODULE_H

#include "record/region.h"
#include "trace/engine/xrefs.h"

struct trace_region;
struct unwinder;

/* What all batches of a switch have in common. */
struct patch_input {
	const struct proc *proc;
	bool on;
	/* all sites are exchanged in stops: the module isn't lasting (proc/module.h) */
	bool stopped;
	struct unwinder *unwinder;
	const region_vec *updates;
	const addr_vec *updated; /* entries of functions that have updates or probes, sorted */
};

struct patch_result {
	size_t sites;     /* that were exchanged */
	double stop_us;   /* the longest standstill of threads that run */
	bool warm;        /* the stacks of threads that run have been followed once */
	double switch_us; /* from before the first page is made ready to behind the last site */
};

/*
 * Exchanges the sites of a region whose module is there; adds to the result. Sites that are off
 * already are passed over when they are to be off.
 */
int patch_module_exchange(const struct patch_input *in, const struct trace_region *region,
			  struct patch_result *result, struct uspl_err *err) uspl_must_check;

#endif
